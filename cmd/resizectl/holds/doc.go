// Package holds is the commands that keep pods from being resized: pause, restore, resume,
// and the list of what is held. It is built on package plans: what becomes of the pods that
// are restored is shown as plans are.
//
// It must not know how pods are restored: it waits until their plans say that nothing is
// left to do.
package holds
