// Package mover moves pods whose nodes have no room for what they need: it evicts them if another node has. It learns of
// them from plans, judges them with package evict, and writes down each decision before it evicts a pod, so that the
// next leader evicts the same pod or none.
//
// It must not know how sizes are computed, and asks nothing of the API server until a pod may move.
package mover
