package guard

import (
	"flag"
	"fmt"
	"testing"
	"time"
)

// outageFlag is long enough for the harm to happen meanwhile.
var outageFlag = flag.Duration("outage", 6*time.Second, "how long the API server is down while resizes hurt")

// anotherReplicaLeads ends the leader just before resizes hurt, by force and in good order. The
// replica that follows it reverts them.
func (s *suite) anotherReplicaLeads(t *testing.T) {
	leader := s.serve(t, nil)
	for _, end := range []struct {
		how string
		run func(*server) error
	}{{"killed", func(s *server) error { return s.Kill() }}, {"stopped", func(s *server) error { return s.Stop() }}} {
		namespace := "leader-" + end.how
		s.apply(t, (&workload{name: "app", replicas: 3, work: calm}).manifest(namespace))
		pods := s.seen.await(t, namespace, "app", 3, "lowered", lowered)
		follower := s.serve(t, nil)
		s.inject(t, pods, oom) // It takes a moment, and a revert takes less.
		if err := end.run(leader); err != nil {
			t.Fatal(err)
		}
		since := time.Now()
		for _, c := range s.seen.await(t, namespace, "app", 3, "reverted", back) {
			if err := revertedOnce(&c); err != nil {
				t.Error(err)
			}
			t.Logf("leader %s: reverted %v after the harm, %v after the end of the leader", end.how, c.back.Sub(c.harmed).Round(time.Millisecond), c.back.Sub(since).Round(time.Millisecond))
		}
		leader = follower
	}
	if err := leader.Stop(); err != nil {
		t.Error(err)
	}
}

// apiServerGone stops the API server. Resizes hurt in the meantime.
func (s *suite) apiServerGone(t *testing.T) {
	const namespace = "outage"
	server := s.serve(t, nil)
	s.apply(t, (&workload{name: "app", replicas: 3, work: calm}).manifest(namespace))
	pods := s.seen.await(t, namespace, "app", 3, "lowered", lowered)
	later := *oom
	later.work = fmt.Sprintf("{cpu: 10m, memory: [{constant: 16Mi}, {spike: 74Mi, at: %v, for: 1000h}]}", *outageFlag/2)
	s.inject(t, pods, &later)
	if err := s.Stop(t.Context(), "kube-apiserver"); err != nil {
		t.Fatal(err)
	}
	over := time.After(*outageFlag)
	select {
	case <-over:
	case <-server.Done():
		t.Fatal("the server ended")
	}
	if err := s.Start(t.Context(), "kube-apiserver"); err != nil {
		t.Fatal(err)
	}
	for _, c := range s.seen.await(t, namespace, "app", 3, "reverted", back) {
		t.Logf("reverted %v after the status showed the harm", c.back.Sub(c.harmed).Round(time.Millisecond))
		if err := revertedOnce(&c); err != nil {
			t.Error(err)
		}
	}
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
}
