// Package holds has the commands that keep pods from being resized: pause, restore, resume,
// freeze, unfreeze, and the list of holds. It builds on package plans, whose tables show the pods that are
// restored.
//
// It must not know how pods are restored: it waits until their plans have nothing left to do.
package holds
