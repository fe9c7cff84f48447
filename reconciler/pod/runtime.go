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

// Runtime returns the ID of the container that runs now, or ran last.
func (c *Container) Runtime() RuntimeID { return c.runtime }

func (c *Container) readRuntime(s *corev1.ContainerStatus) {
	if s != nil {
		c.runtime = RuntimeIDOf(s.ContainerID)
	}
}
