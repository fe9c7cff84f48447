// Package schedule says when resizes may happen: windows of the week, each in a time zone.
//
// A window contains the times at which the clock in its zone shows a time within the window. An
// hour that this clock skips is not in any window, and an hour that it repeats is in a window both
// times. A window that lasts past midnight belongs to the days on which it starts.
//
// It must not know the current time.
package schedule
