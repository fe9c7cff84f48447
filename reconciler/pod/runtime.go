package pod

import (
	"hash/fnv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// RuntimeID identifies a container to its runtime. It is a hash of the ID, which takes eight times as many
// bytes; 0 for no ID.
type RuntimeID uint64

// RuntimeIDOf returns the RuntimeID for an ID, without or with the name of the runtime as in
// "containerd://0123".
func RuntimeIDOf(id string) RuntimeID {
	if _, after, ok := strings.Cut(id, "://"); ok {
		id = after
	}
	if id == "" {
		return 0
	}
	h := fnv.New64a()
	h.Write([]byte(id))
	return RuntimeID(h.Sum64())
}

// Ran reports whether an ID belongs to the container that runs now, or ran last, or to the one
// before: usage of a container that has just ended arrives when the next one runs.
func (c *Container) Ran(id RuntimeID) bool {
	return id != 0 && (id == c.runtime || id == c.before)
}

func (c *Container) readRuntime(s *corev1.ContainerStatus) {
	if s != nil {
		c.runtime = RuntimeIDOf(s.ContainerID)
		if last := s.LastTerminationState.Terminated; last != nil {
			c.before = RuntimeIDOf(last.ContainerID)
		}
	}
}
