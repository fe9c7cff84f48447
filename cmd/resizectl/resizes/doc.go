// Package resizes is the commands of what was done to pods: it lists and watches the
// resizes, how far nodes are with them, and why a pod is only partly sized.
//
// It must not know what would be done, beyond the reasons in a plan: that is for plans.
package resizes
