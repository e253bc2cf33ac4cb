"""What the emulator says that it does not know, rather than guess; here by the cases' names."""

ROUNDED = tuple(
    f"v_{operation}_{kind} rounding {how}"
    for how in ("up", "down", "zero")
    for kind in ("f32", "f64", "f16")
    for operation in ("add", "mul", "fma")
)

REFUSED = frozenset(
    (
        *ROUNDED,
        "s_setreg_b32 and s_getreg_b32 of a field",
        *(f"v_cube{name}_f32 d a b c" for name in ("id", "sc", "tc", "ma")),
        *("v_mad_f16 d a b c", "v_mac_f16 d a b"),
        *("v_madak_f16 d a b 0x4200", "v_madmk_f16 d a 0xc200 b"),
        *("v_pk_fmac_f16 d a b", "v_qsad_pk_u16_u8 d a b c"),
        *("ds_mskor_b32 {p} {a} {b}", "ds_mskor_rtn_b32 {d} {p} {a} {b}"),
        *("ds_mskor_b64 {p} {a} {b}", "ds_mskor_rtn_b64 {d} {p} {a} {b}"),
        *(f"ds_swizzle_b32 {offset}" for offset in (49248, 50336, 49458)),  # turns
        *(f"ds_swizzle_b32 {offset}" for offset in (57344, 57360, 57375, 57368)),  # a transform's
    )
)
