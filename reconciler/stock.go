package reconciler

import (
	"crypto/sha256"
	"runtime"
	"sync"
	"weak"

	corev1 "k8s.io/api/core/v1"
)

// stock has what pods share, as long as any of them has it.
type stock struct {
	mu   sync.Mutex
	pods map[[sha256.Size]byte]weak.Pointer[corev1.Pod]
}

func newStock() *stock { return &stock{pods: map[[sha256.Size]byte]weak.Pointer[corev1.Pod]{}} }

// share returns the one that is there for the key, or else takes this one in.
func (s *stock) share(key [sha256.Size]byte, pod *corev1.Pod) *corev1.Pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	if there := s.pods[key].Value(); there != nil {
		return there
	}
	s.pods[key] = weak.Make(pod)
	runtime.AddCleanup(pod, s.drop, key)
	return pod
}

// drop forgets one that nobody has any more, unless there is another meanwhile.
func (s *stock) drop(key [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pods[key].Value() == nil {
		delete(s.pods, key)
	}
}
