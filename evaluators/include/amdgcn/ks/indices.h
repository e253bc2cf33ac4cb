/* threadIdx, blockIdx, blockDim and gridDim, from registers and the implicit arguments. */
#ifndef KS_INDICES_H
#define KS_INDICES_H

/* Block counts of a launch: the first of code object 5's implicit arguments.
 * Source: LLVM, User Guide for AMDGPU Backend, "Code Object V5 Kernel Argument Metadata". */
#define KS_BLOCK_COUNT(i)                                                                          \
    (((const __attribute__((address_space(4))) unsigned *)__builtin_amdgcn_implicitarg_ptr())[i])

#define KS_AXIS(axis, value)                                                                       \
    __declspec(property(get = get_##axis)) unsigned axis;                                          \
    KS_MEMBER unsigned get_##axis() const { return value; }
#define KS_INDEX(Type, name, value_x, value_y, value_z)                                            \
    struct Type {                                                                                  \
        KS_AXIS(x, value_x) KS_AXIS(y, value_y) KS_AXIS(z, value_z)                                \
        KS_MEMBER operator dim3() const { return dim3(get_x(), get_y(), get_z()); }                \
    };                                                                                             \
    extern const __attribute__((device)) __attribute__((weak)) Type name;

KS_INDEX(KsThreadIdx, threadIdx, __builtin_amdgcn_workitem_id_x(),
         __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z())
KS_INDEX(KsBlockIdx, blockIdx, __builtin_amdgcn_workgroup_id_x(),
         __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z())
/* The compiler reads these from the implicit arguments too, at 12, 14 and 16 bytes. */
KS_INDEX(KsBlockDim, blockDim, __builtin_amdgcn_workgroup_size_x(),
         __builtin_amdgcn_workgroup_size_y(), __builtin_amdgcn_workgroup_size_z())
KS_INDEX(KsGridDim, gridDim, KS_BLOCK_COUNT(0), KS_BLOCK_COUNT(1), KS_BLOCK_COUNT(2))

#endif
