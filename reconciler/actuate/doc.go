// Package actuate executes plans. It is the only code that writes pods.
//
// It makes the writes of a plan in order, each bound to the pod that was planned, and
// returns an error that names the write that failed. It must not decide anything: the plan
// determines what is written, and Permit determines whether a write may begin.
package actuate
