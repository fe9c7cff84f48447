package steppedworld

import (
	"context"
	"slices"
	"testing"
	"time"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// patientFor is for how long node agents send a usage again.
const patientFor = 10 * time.Minute

// Pend adds a usage to what Report reports.
func (s *Servers) Pend(usage *workloadresizerv1.ContainerUsage) { s.pending = append(s.pending, usage) }

// Report sends what is pending, in a stream for each sender. Usages that no server takes are sent again, as node agents do.
func (s *Servers) Report(t *testing.T, sender func(podUID string) string) {
	t.Helper()
	old := slices.IndexFunc(s.pending, func(u *workloadresizerv1.ContainerUsage) bool { return s.At.Sub(u.GetEndTime().AsTime()) <= patientFor })
	if old < 0 {
		old = len(s.pending)
	}
	s.Tally.Dropped += old
	s.pending = s.pending[old:]
	if len(s.pending) == 0 {
		return
	}
	senders := map[string][]*workloadresizerv1.ContainerUsage{}
	for _, u := range s.pending {
		of := sender(u.GetPodUid())
		senders[of] = append(senders[of], u)
	}
	for i, r := range s.replicas {
		if err := s.send(t.Context(), r, senders); err == nil {
			s.pending = nil
			s.replicas[0], s.replicas[i] = s.replicas[i], s.replicas[0] // It is asked first from now on.
			return
		}
	}
}

func (s *Servers) send(ctx context.Context, r *replica, senders map[string][]*workloadresizerv1.ContainerUsage) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for sender, usages := range senders {
		stream, err := r.api.Usage().ReportUsage(ctx)
		if err != nil {
			return err
		}
		for part := range slices.Chunk(usages, 1000) {
			if err := stream.Send(&workloadresizerv1.ReportUsageRequest{Usages: part}); err != nil {
				break // CloseAndRecv says why.
			}
		}
		response, err := stream.CloseAndRecv()
		if err != nil {
			return err
		}
		s.Tally.Reports += int(response.GetAccepted())
		if response.GetRejected() > 0 {
			s.Tally.Rejected += int(response.GetRejected())
			s.Fault("%d reports are rejected: %v", response.GetRejected(), response.GetErrors()[0])
		}
		delete(senders, sender)
	}
	return nil
}
