"""What does not count any more, as sentences for a person."""

from engine.store.kinds.contests import Contested
from engine.store.kinds.revisions import AnchorWithdrawn


def withdrawn_text(withdrawn: AnchorWithdrawn) -> str:
    """ "14c17dd2426d is withdrawn and counts no more: it failed 3 times in a row ..."."""
    short, back = withdrawn.kernel_id[:12], withdrawn.anchor_id[:12]
    return (
        f"{short} is withdrawn and counts no more: {withdrawn.reason}; kernels are timed against "
        f"{back} again"
    )


def demoted_text(contest: Contested) -> str:
    """ "14c17dd2426d is the best no more: measured again beside it, 5e37a20c11ff is 1.06x ..."."""
    was, now = contest.rival_id[:12], contest.kernel_id[:12]
    estimate, low, high = contest.ratio or (1.0, 1.0, 1.0)
    return (
        f"{was} is the best no more: measured again beside it, {now} is {estimate:.2f}x as fast "
        f"(99% interval {low:.2f} to {high:.2f})"
    )


def wrong_text(contest: Contested) -> str:
    """Why a kernel that seemed faster than the best did not become the best."""
    reason = contest.reason.removeprefix("it ")
    if reason != contest.reason:
        return f"{contest.kernel_id[:12]} {reason}"
    return (
        f"{contest.kernel_id[:12]} seemed faster than the best and failed when it was measured "
        f"again: {reason}"
    )
