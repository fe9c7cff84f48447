// Package usage has the commands that show what workloads request, use and need: per workload,
// namespace and in total, step by step for one workload, as measured, and where usage comes from.
//
// It must not know how a need follows from usage: it adds up what the server reports, and explains it
// in the server's words.
//
// sources, explain and history use the verbs of package objects. usage and usage savings use only its tables:
// their rows are sums over what the server lists.
package usage
