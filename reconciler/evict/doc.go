// Package evict decides which pods may move to other nodes, and whether another node would take them. It moves no pod
// itself. It refuses what it cannot judge: a pod that stays costs some room, and a pod that is evicted and then fits nowhere
// is an outage.
//
// The package is pure: it must not know clients, clocks or caches, nor why a pod should move.
package evict
