package node

import (
	"os"

	containertest "k8s.io/kubernetes/pkg/kubelet/container/testing"
)

// fakeOS keeps the kubelet's hands off the real machine's /var/log. Upstream's
// fake does that already, but it records what it is asked to remove, without a
// lock and for ever.
type fakeOS struct{ containertest.FakeOS }

// Remove does nothing.
func (*fakeOS) Remove(string) error { return nil }

// RemoveAll does nothing.
func (*fakeOS) RemoveAll(string) error { return nil }

// Create does nothing.
func (*fakeOS) Create(string) (*os.File, error) { return nil, nil }
