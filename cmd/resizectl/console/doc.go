// Package console has the command that shows the cluster in a browser: it serves pages on this machine, and reads what they show
// through the connection of the command.
//
// It must not be able to change anything in the cluster, nor be reachable by anybody but its user.
package console
