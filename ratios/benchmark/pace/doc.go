// Package pace says how ratios follow estimates: not for small changes, not
// before they are confirmed, and in steps. Everything here is a pure function.
//
// Time goes by in windows that begin at multiples of their length since 1970, so
// that all replicas speak of the same ones. Once a window the ratio is judged:
//
//   - A target within the dead band moves nothing.
//   - One beyond it must be beyond it, on the same side, in several windows in a
//     row. The last of them makes the first step.
//   - From then on the ratio follows the target, which follows the estimate, until
//     it is there exactly. A target that falls back behind the ratio stops it: a
//     direction is never turned without being confirmed.
//   - Without an estimate, if that is confirmed, too, the ratio goes back to what
//     is in force without benchmarks, and ends there.
//   - An estimate that is held back stops everything.
//
// Ratios start from what is in force without them. Where the first target is within
// the dead band of that, there is none: it would change sizes for nothing.
//
// Steps compound: a step of an hour multiplies or divides by 1 + MaxStepPerHour,
// one of a shorter window by the root of it, so that the way up is the way down
// and shorter windows are not faster. After a longer pause, or with longer windows,
// a step still is that of an hour.
//
// It must not know how estimates are made, nor where states are kept.
package pace
