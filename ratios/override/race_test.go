package override

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	testingclock "k8s.io/utils/clock/testing"
)

// changedBetween lets another replica change the overrides after a patch was
// computed and before it is written, so that it must be computed again.
func changedBetween(t *testing.T, s *stored) {
	three := 3.0
	whole := set("n4", 2)
	whole.MemoryPerf = &three
	for _, tc := range []struct {
		name   string
		before []Patch
		other  func(*replica) error
		patch  Patch
		want   map[string]Value
	}{
		{"deleted while the patch sets everything", []Patch{whole},
			func(r *replica) error {
				_, err := r.Delete(t.Context(), Deletion{NodeType: "n4"}, Request{})
				return err
			},
			set("n4", 1.5), map[string]Value{"n4": {CPUPerf: 1.5, MemoryPerf: 1}}},
		{"set while the patch sets a part", nil,
			func(r *replica) error {
				_, err := r.Update(t.Context(), []Patch{whole}, Request{})
				return err
			},
			set("n4", 1.5), map[string]Value{"n4": {CPUPerf: 1.5, MemoryPerf: 3}}},
		{"deleted while no other source knows the type", []Patch{whole},
			func(r *replica) error {
				_, err := r.Delete(t.Context(), Deletion{NodeType: "n4"}, Request{})
				return err
			},
			alone(set("n4", 1.5)), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.write(t, nil)
			a, b := s.run(t), s.run(t)
			if len(tc.before) > 0 {
				b.mustUpdate(t, Request{}, tc.before...)
			}
			tries := 0
			_, err := a.Update(t.Context(), []Patch{tc.patch}, Request{Check: func(_, _ map[string]Override) error {
				if tries++; tries > 1 {
					return nil
				}
				return tc.other(b)
			}})
			unknown, isUnknown := errors.AsType[*UnknownError](err)
			if tc.want == nil && (!isUnknown || unknown.NodeType != "n4") || tc.want != nil && (err != nil || tries != 2) {
				t.Errorf("%d tries, %v", tries, err)
			}
			if got := values(s.read(t).overrides); !cmp.Equal(got, tc.want) && len(got)+len(tc.want) > 0 {
				t.Errorf("stored %v, want %v", got, tc.want)
			}
		})
	}
}

// alone returns the patch of a node type that no other source knows.
func alone(p Patch) Patch {
	p.Default = nil
	return p
}

// expiredBetween patches a stored override that has expired.
func expiredBetween(t *testing.T, s *stored) {
	s.write(t, nil)
	clock := testingclock.NewFakeClock(began)
	r := s.run(t, WithClock(clock))
	three, end := 3.0, began.Add(time.Hour)
	whole := set("n4", 2)
	whole.MemoryPerf, whole.ExpireTime = &three, &end
	r.mustUpdate(t, Request{}, whole)
	clock.SetTime(end)
	_, err := r.Update(t.Context(), []Patch{alone(set("n4", 1.5))}, Request{})
	if _, ok := errors.AsType[*UnknownError](err); !ok {
		t.Errorf("update of an unknown node type: %v", err)
	}
	r.mustUpdate(t, Request{}, set("n4", 1.5))
	want := map[string]Value{"n4": {CPUPerf: 1.5, MemoryPerf: 1}}
	if diff := cmp.Diff(want, values(s.read(t).overrides)); diff != "" {
		t.Error(diff)
	}
}
