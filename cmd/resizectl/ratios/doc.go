// Package ratios is the commands of the ratios of node types: it lists, watches and
// overrides them, after it has shown what that means for the pods, and takes back what
// was overridden.
//
// It must not know where ratios come from, nor how a server stores them. What writes
// overrides by other commands, and shows them, writes and shows them by this package.
package ratios
