package guard

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// reported is how the containers of a workload fare, as node agents report it.
type reported struct {
	name          string
	before, since *workloadresizerv1.ContainerUsage
	// harm is what is recorded with the revert, and back the size that pods get; empty if the pods must
	// keep their size.
	harm, back string
	// urgent means that an agent reports it immediately.
	urgent bool
}

func fares(throttled, cpuPressure, memoryPressure float64, mebibytes, limitEvents int64) *workloadresizerv1.ContainerUsage {
	return &workloadresizerv1.ContainerUsage{
		CpuCores: new(0.01), Throttled: &throttled, CpuPressure: &cpuPressure,
		MemoryPeakBytes: new(mebibytes << 20), MemoryPressure: &memoryPressure, MemoryLimitEvents: &limitEvents,
	}
}

// signals are ways to fare worse, and to fare as badly as before.
var signals = []*reported{
	{name: "always-bad", before: fares(0.8, 0.9, 0.6, 98, 3), since: fares(0.8, 0.9, 0.6, 78, 3)},
	{name: "page-cache", before: fares(0, 0, 0, 16, 0), since: fares(0, 0, 0, 40, 9)},
	{name: "throttled", before: fares(0.1, 0, 0, 16, 0), since: fares(0.8, 0.2, 0, 16, 0), harm: "Throttled", back: cpu + " " + loweredMemory},
	{name: "cpu-pressure", before: fares(0.1, 0.2, 0, 16, 0), since: fares(0.1, 0.9, 0, 16, 0), harm: "CPUPressure", back: cpu + " " + loweredMemory},
	{name: "memory-pressure", before: fares(0, 0, 0, 16, 0), since: fares(0, 0, 0.6, 60, 0), harm: "MemoryPressure", back: loweredCPU + " " + memory},
	{name: "near-limit", before: fares(0, 0, 0, 16, 0), since: fares(0, 0, 0, 78, 0), harm: "NearLimit", back: loweredCPU + " " + memory, urgent: true},
	{name: "at-limit", before: fares(0, 0, 0, 16, 0), since: fares(0, 0, 0, 70, 3), harm: "NearLimit", back: loweredCPU + " " + memory, urgent: true},
}

const (
	// collected is how often reports are collected that are not urgent.
	collected = 5 * time.Second
	// measured is how long a measurement of throttling takes at least.
	measured = 30 * time.Second
)

// reportSignals lets agents report that resizes hurt, while the pods look well.
func (s *suite) reportSignals(t *testing.T, server *server, r *report, namespace string) {
	for _, what := range signals {
		s.apply(t, (&workload{name: what.name, replicas: *injectionsFlag, work: calm, skipped: true}).manifest(namespace))
	}
	resized := map[string]time.Time{}
	for _, what := range signals {
		pods := s.seen.await(t, namespace, what.name, *injectionsFlag, "running", running)
		if err := s.tell(t, server, namespace, what.name, what.before, time.Minute); err != nil {
			t.Fatal(err)
		}
		for _, c := range pods {
			s.annotate(t, namespace, c.pod.Name, "workload-resizer.io/skip", "")
		}
	}
	for _, what := range signals {
		s.seen.await(t, namespace, what.name, *injectionsFlag, "lowered", lowered)
		resized[what.name] = time.Now()
	}
	name := s.seen.of(namespace, "throttled")[0].pod.Name
	s.awaitReason(t, server, namespace, name, "NotMeasured", "throttling of container app, pressure of cpu of container app, pressure of memory of container app, use of memory of container app (it has not been measured since the resize)")
	for _, what := range signals {
		if what.urgent {
			s.hurtSince(t, server, r, namespace, what, time.Second)
		}
	}
	for _, what := range signals {
		if what.urgent {
			continue
		}
		localcluster.Eventually(t, "enough time to measure", func() error {
			if left := measured + time.Second - time.Since(resized[what.name]); left > 0 {
				return fmt.Errorf("%v are left", left)
			}
			return nil
		})
		if what.harm != "" {
			s.hurtSince(t, server, r, namespace, what, measured)
			continue
		}
		if err := s.tell(t, server, namespace, what.name, what.since, measured); err != nil {
			t.Fatal(err)
		}
	}
	// They were reported first, so what they report counted before the others were reverted.
	for _, what := range signals {
		if what.harm == "" {
			r.kept(t, what.name, s.seen.await(t, namespace, what.name, *injectionsFlag, "lowered at the end", lowered))
		}
	}
}

// hurtSince reports that resizes hurt, until the pods are reverted.
func (s *suite) hurtSince(t *testing.T, server *server, r *report, namespace string, what *reported, length time.Duration) {
	t.Helper()
	hurts := &injection{name: what.name, back: what.back}
	if !what.urgent {
		hurts.interval = collected
	}
	for _, c := range s.seen.of(namespace, what.name) {
		s.seen.inject(c, hurts)
	}
	if err := s.tell(t, server, namespace, what.name, what.since, length); err != nil {
		t.Fatal(err)
	}
	found := s.seen.await(t, namespace, what.name, *injectionsFlag, "reverted", back)
	for i := range found {
		if record := found[i].pod.Annotations[revertedKey]; !strings.Contains(record, fmt.Sprintf("%q:%q", "harm", what.harm)) {
			t.Errorf("%s: it records %s", what.name, record)
		}
	}
	r.injected(t, what.name, found, nil)
}

// tell reports a usage of all pods of a workload that ends now, as a node agent does.
func (s *suite) tell(t *testing.T, server *server, namespace, workload string, fares *workloadresizerv1.ContainerUsage, length time.Duration) error {
	t.Helper()
	return s.tellOf(t, server, s.seen.of(namespace, workload), fares, length)
}

// tellOf is tell for some pods.
func (s *suite) tellOf(t *testing.T, server *server, pods []course, fares *workloadresizerv1.ContainerUsage, length time.Duration) error {
	t.Helper()
	var answer error
	localcluster.Eventually(t, "the server to collect usage", func() error {
		stream, err := server.api.Usage().ReportUsage(t.Context())
		if err != nil {
			return err
		}
		request := &workloadresizerv1.ReportUsageRequest{}
		for _, c := range pods {
			request.Usages = append(request.Usages, &workloadresizerv1.ContainerUsage{
				PodUid: string(c.pod.UID), Container: "app", EndTime: timestamppb.Now(), MeasureDuration: durationpb.New(length),
				CpuCores: fares.CpuCores, Throttled: fares.Throttled, CpuPressure: fares.CpuPressure,
				MemoryPeakBytes: fares.MemoryPeakBytes, MemoryPressure: fares.MemoryPressure, MemoryLimitEvents: fares.MemoryLimitEvents,
			})
		}
		if err := stream.Send(request); err != nil {
			return err
		}
		response, err := stream.CloseAndRecv()
		if err == nil && response.GetRejected() > 0 {
			answer = errors.New(response.String())
		}
		return err
	})
	return answer
}

// awaitReason waits until the plan of a pod has a reason that says something.
func (s *suite) awaitReason(t *testing.T, server *server, namespace, pod, code, says string) {
	t.Helper()
	localcluster.Eventually(t, "the plan to say "+code, func() error {
		p, err := server.api.PreviewPod(t.Context(), namespace, pod)
		if err != nil {
			return err
		}
		for _, reason := range p.GetReasons() {
			if reason.GetCode() == code && strings.Contains(reason.GetMessage(), says) {
				return nil
			}
		}
		return fmt.Errorf("it is %v", p)
	})
}
