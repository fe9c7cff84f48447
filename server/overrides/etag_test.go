package overrides

import (
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
	testingclock "k8s.io/utils/clock/testing"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// checkStale checks an error for an etag that is no longer valid, and returns the current one.
func checkStale(t *testing.T, err error, field string) string {
	t.Helper()
	servertest.CheckError(t, err, codes.Aborted, "ETAG_MISMATCH", `of node type "n4" has changed since`)
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetMetadata()["nodeType"] == "n4" {
			return info.GetMetadata()[field]
		}
	}
	t.Errorf("the error does not name the node type: %v", err)
	return ""
}

func etagOnce(t *testing.T, x *suite) {
	s := x.serve(t)
	request := cpu("n4", 3)
	request.Override.Etag = s.must(t, cpu("n4", 2)).GetOverride().GetEtag()
	present := s.must(t, request).GetOverride().GetEtag()
	if got := s.override(t, "n4").GetEtag(); got != present {
		t.Errorf("the etag is %s, the response had %s", got, present)
	}
	request.Override.CpuPerf = new(4.0)
	_, updated := s.UpdateOverride(s.ctx, request)
	_, deleted := s.DeleteOverride(s.ctx, &workloadresizerv1.DeleteOverrideRequest{NodeType: "n4", Etag: request.Override.Etag})
	for _, err := range []error{updated, deleted} {
		if now := checkStale(t, err, "etag"); now != present {
			t.Errorf("the error has %s, the current etag is %s", now, present)
		}
	}
	if _, err := s.DeleteOverride(s.ctx, &workloadresizerv1.DeleteOverrideRequest{NodeType: "n4", Etag: present}); err != nil {
		t.Error(err)
	}
}

func etagCovers(t *testing.T, x *suite) {
	clock := testingclock.NewFakeClock(time.Now())
	s := x.serve(t, override.WithClock(clock))
	seen := map[string]string{}
	change := func(what string, request *workloadresizerv1.UpdateOverrideRequest) {
		t.Helper()
		etag := s.must(t, request).GetOverride().GetEtag()
		if before, ok := seen[etag]; ok {
			t.Errorf("after %s, the etag is the same as after %s", what, before)
		}
		seen[etag] = what
	}
	change("a new override", cpu("n4", 2))
	change("another cpu performance", cpu("n4", 3))
	change("another memory performance", &workloadresizerv1.UpdateOverrideRequest{Override: &workloadresizerv1.Override{NodeType: "n4", MemoryPerf: new(2.0)}})
	expiring := func(in time.Duration) *workloadresizerv1.UpdateOverrideRequest {
		return &workloadresizerv1.UpdateOverrideRequest{Override: &workloadresizerv1.Override{NodeType: "n4", ExpireTime: timestamppb.New(clock.Now().Add(in))}}
	}
	change("an expiry", expiring(time.Hour))
	change("another expiry", expiring(2*time.Hour))
}

// Any change to what the caller has seen invalidates its etag, even if its value is the same.
func ratioEtag(t *testing.T, x *suite) {
	for _, tc := range []struct {
		name   string
		change func(*testing.T, *server)
	}{
		{"the ratio of the ConfigMap", func(t *testing.T, s *server) {
			s.set(t, func(l *ratios.Layer) { l.Ratios["n4"] = ratios.Ratio{CPUPerf: 1.5, MemoryPerf: 1} })
		}},
		{"the performance of the baseline", func(t *testing.T, s *server) {
			s.set(t, func(l *ratios.Layer) { l.Ratios["n2d"] = ratios.Ratio{CPUPerf: 1.1, MemoryPerf: 1} })
		}},
		{"the choice of the baseline", func(t *testing.T, s *server) { s.set(t, func(l *ratios.Layer) { l.Baseline = "n4" }) }},
		{"the override of the baseline", func(t *testing.T, s *server) { s.must(t, cpu("n2d", 1.1)) }},
		{"an override with the same value", func(t *testing.T, s *server) { s.must(t, cpu("n4", 1.25)) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := x.serve(t)
			seen := s.get("n4").GetEtag()
			tc.change(t, s)
			request := cpu("n4", 2)
			request.RatioEtag = seen
			_, updated := s.UpdateOverride(s.ctx, request)
			_, deleted := s.DeleteOverride(s.ctx, &workloadresizerv1.DeleteOverrideRequest{NodeType: "n4", AllowMissing: true, RatioEtag: seen})
			now := s.get("n4").GetEtag()
			for _, err := range []error{updated, deleted} {
				if got := checkStale(t, err, "ratioEtag"); got != now || got == seen {
					t.Errorf("the error has %s, the etag was %s and is %s", got, seen, now)
				}
			}
			request.RatioEtag = now
			s.must(t, request)
		})
	}
	t.Run("but not the ratio of another node type", func(t *testing.T) {
		s := x.serve(t)
		seen := s.get("n4").GetEtag()
		s.must(t, both("c3", 2, 2))
		request := cpu("n4", 2)
		request.RatioEtag = seen
		s.must(t, request)
	})
	t.Run("a source below the override counts, too", func(t *testing.T) {
		s := x.serve(t)
		s.must(t, cpu("n4", 2))
		seen := s.get("n4").GetEtag()
		s.set(t, func(l *ratios.Layer) { l.Ratios["n4"] = ratios.Ratio{CPUPerf: 1.5, MemoryPerf: 1} })
		_, err := s.DeleteOverride(s.ctx, &workloadresizerv1.DeleteOverrideRequest{NodeType: "n4", RatioEtag: seen})
		checkStale(t, err, "ratioEtag")
	})
	t.Run("every replica has the same etags", func(t *testing.T) {
		s := x.serve(t)
		s.must(t, cpu("n4", 2))
		other := x.replica(t)
		request := cpu("n4", 3)
		request.RatioEtag = s.get("n4").GetEtag()
		other.must(t, request)
	})
}

// Of several callers that create an override because there is none, only the first one does.
func etagOfAbsence(t *testing.T, x *suite) {
	s := x.serve(t)
	request := cpu("n4", 2)
	request.Override.Etag = "none"
	s.must(t, request)
	_, err := s.UpdateOverride(s.ctx, request)
	if now := checkStale(t, err, "etag"); now == "none" {
		t.Error("an override that exists has the etag of one that does not")
	}
}

func ratioEtagOfAbsence(t *testing.T, x *suite) {
	s := x.serve(t)
	request := both("c3", 2, 2)
	request.RatioEtag = "none"
	request.ValidateOnly = true
	s.must(t, request)
	s.set(t, func(l *ratios.Layer) { l.Ratios["c3"] = ratios.Ratio{CPUPerf: 2, MemoryPerf: 2} })
	_, err := s.UpdateOverride(s.ctx, request)
	servertest.CheckError(t, err, codes.Aborted, "ETAG_MISMATCH", `the ratio of node type "c3" has changed since its etag was read`)
}
