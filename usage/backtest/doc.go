// Package backtest replays recorded usage against policies that size machines, and counts what
// would have happened. docs/design/usage.md has the rules of a replay.
//
// The policies of our recommender are replayed by the planner that sizes pods in a cluster: each machine
// is a pod on a node with room for any size, and gets the size in its plan.
//
// It must not know clocks, clients or files: machines are arguments. It uses all processors, and
// its results do not depend on their number.
package backtest
