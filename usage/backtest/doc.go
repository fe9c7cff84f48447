// Package backtest replays recorded usage against policies that size machines, and counts what
// would have happened. docs/usage.md has the rules of a replay.
//
// It must not know clocks, clients or files: machines are arguments. It uses all processors, and
// its results do not depend on their number.
package backtest
