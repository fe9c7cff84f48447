// Package holds has the commands that keep pods from being resized: pause, restore, resume,
// freeze, unfreeze, and the list of holds. It builds on package plans, whose tables show the pods that are
// restored.
//
// It must not know how pods are restored: it waits until their plans have nothing left to do.
//
// The list is a verb of package objects. The other commands are not: they ask for confirmation, change
// something, and wait.
package holds
