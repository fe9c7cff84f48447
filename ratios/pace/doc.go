// Package pace defines how ratios follow estimates: they ignore small changes, wait until a
// change is confirmed, and then move in steps. Everything here is a pure function.
//
// Time is divided into windows that begin at multiples of their length since 1970, so that all
// replicas use the same windows. The ratio is judged once per window:
//
//   - A target within the dead band changes nothing, and neither does one whose confidence
//     interval contains the ratio: the difference may be chance.
//   - Any other target must be outside, on the same side, in several consecutive
//     windows. The last of these windows makes the first step.
//   - From then on, the ratio follows the target, which follows the estimate, until it
//     reaches the target exactly. If the target falls behind the ratio, the ratio stops: a
//     change in direction must always be confirmed.
//   - If there is no estimate, and this is confirmed, too, the ratio returns to the ratio
//     that is in effect without the source. It ends in a later window, if that ratio is still
//     the same: it may be one that moves, too.
//   - An estimate that is held back stops the ratio.
//
// A measured ratio starts from the ratio that is in effect without it. If the first target is
// within the dead band of that ratio, no measured ratio starts: it would change sizes without
// need.
//
// Steps compound. A step of one hour multiplies or divides the ratio by 1 + MaxStepPerHour. A
// step of a shorter window uses the corresponding root, so that moving up and down is symmetric
// and shorter windows are not faster. After a longer time without judgments, or with longer
// windows, a step is still limited to the step of one hour.
//
// It must not know how estimates are made or where states are stored.
package pace
