// Package creation decides which size a pod gets while it is being created: what the planner would give it on the node
// where it will run, as far as the pod says where that is. So it needs no resize once it runs, and the scheduler sees the
// size that it will have.
//
// It must not know how the API server asks for this, nor write anything. It does not compute sizes: the planner does.
package creation
