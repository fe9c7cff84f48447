// Package actuate carries plans out. It is the only code that writes pods.
//
// It does the writes of a plan in their order, each bound to the pod that was planned, and
// says in an error what became of the one that failed. It must not decide anything: what is
// written is the plan's, and whether a write may begin is asked of who knows (Permit).
package actuate
