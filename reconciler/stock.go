package reconciler

import (
	"crypto/sha256"
	"runtime"
	"sync"
	"weak"
)

// stock has what pods share, as long as any of them has it: values that are the same
// are there once.
type stock struct {
	forms shelf[form]
	keys  shelf[keys]
}

func newStock() *stock { return &stock{} }

// shelf has values of one kind by the checksum of their encoding. The zero shelf is
// empty.
type shelf[T any] struct {
	mu     sync.Mutex
	values map[[sha256.Size]byte]weak.Pointer[T]
}

// share returns the value that is there for the encoding, or else takes this one in.
// Nobody changes it from then on.
func (s *shelf[T]) share(encoded []byte, value *T) *T {
	key := sha256.Sum256(encoded)
	s.mu.Lock()
	defer s.mu.Unlock()
	if there := s.values[key].Value(); there != nil {
		return there
	}
	if s.values == nil {
		s.values = map[[sha256.Size]byte]weak.Pointer[T]{}
	}
	s.values[key] = weak.Make(value)
	runtime.AddCleanup(value, s.drop, key)
	return value
}

// drop forgets a value that nobody has any more, unless there is another meanwhile.
func (s *shelf[T]) drop(key [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values[key].Value() == nil {
		delete(s.values, key)
	}
}
