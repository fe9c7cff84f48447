// Package resizes has the commands that show what was done to pods: it lists and watches
// resizes, their state on the nodes, and why a pod is only partly sized.
//
// It must not know what would be done, except for the reasons in a plan: that is for package
// plans.
package resizes
