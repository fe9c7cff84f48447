package node

import (
	"os"

	containertest "k8s.io/kubernetes/pkg/kubelet/container/testing"
)

// fakeOS keeps the kubelet from touching the real machine's /var/log. Upstream's fake
// already does so, but it records every path that it is asked to remove, without a lock
// and forever.
type fakeOS struct{ containertest.FakeOS }

// Remove does nothing.
func (*fakeOS) Remove(string) error { return nil }

// RemoveAll does nothing.
func (*fakeOS) RemoveAll(string) error { return nil }

// Create does nothing.
func (*fakeOS) Create(string) (*os.File, error) { return nil, nil }
