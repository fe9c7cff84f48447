// Package admission answers the API server when it creates pods: with the size that package creation decides. Every
// replica answers, from memory. A pod is never refused: whatever goes wrong, it is created as its author wrote it.
//
// It also keeps what this needs in the cluster: the keys that the replicas share, and the authority with which the API
// server verifies them.
//
// It must not compute sizes.
package admission
