package deliver

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/workload-resizer/workload-resizer/agent/usage"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const (
	// usagePatience is for how long a usage is sent again if the server does not answer, or does
	// not collect.
	usagePatience = 10 * time.Minute
	// unknownPatience is for how long it is sent again if the server does not know its container.
	unknownPatience = 5 * time.Minute
	// mostUsages is how many usages wait at most: those of 1,000 containers in usagePatience.
	mostUsages = 10_000
)

// UsageSender sends usages to the server until it has accepted them, or they are too old.
type UsageSender struct {
	// Dial connects to the server. Behind its address may be several replicas, of which one
	// collects usage.
	Dial func() (UsageClient, error)
	// Node measures the node now. It is sent with the usages of its containers.
	Node func() usage.Node
	Log  *slog.Logger

	mu      sync.Mutex
	pending []usage.Usage // The oldest first.
	wake    chan struct{}

	// The following are of Run.
	client UsageClient
	notes  notes
}

// NewUsageSender returns a sender.
func NewUsageSender(dial func() (UsageClient, error), node func() usage.Node, log *slog.Logger) *UsageSender {
	return &UsageSender{Dial: dial, Node: node, Log: log, wake: make(chan struct{}, 1), notes: notes{log: log}}
}

// Add adds usages to those that Run sends.
func (s *UsageSender) Add(usages []usage.Usage) {
	s.mu.Lock()
	s.pending = append(s.pending, usages...)
	slices.SortStableFunc(s.pending, func(a, b usage.Usage) int { return a.End.Compare(b.End) })
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default: // Run has not yet begun with the usages before these.
	}
}

// Run sends usages until ctx is done. It keeps the connection on which the server accepts them.
func (s *UsageSender) Run(ctx context.Context) {
	defer s.disconnect()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
			s.deliver(ctx)
		}
	}
}

// Flush sends what is pending, after Run has ended.
func (s *UsageSender) Flush(ctx context.Context) {
	defer s.disconnect()
	s.deliver(ctx)
}

// deliver sends what is pending until the server has answered. Usages of containers
// that it does not know yet stay, and are sent with the next ones.
func (s *UsageSender) deliver(ctx context.Context) {
	pause := wait.Backoff{Duration: 500 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 10, Cap: 30 * time.Second}
	for {
		batch := s.take()
		if len(batch) == 0 {
			return
		}
		response, err := s.send(ctx, batch)
		switch {
		case err != nil && ctx.Err() != nil:
			s.keep(batch)
			return
		case err == nil:
			s.keep(s.sift(batch, response))
			s.notes.succeeded()
			return
		case status.Code(err) == codes.InvalidArgument: // It would never be accepted.
			s.notes.rejected(len(batch), err.Error())
			s.notes.succeeded()
			return
		}
		s.keep(batch)
		s.notes.failed(err)
		if !mayWork(err) {
			return // Someone has to change something first.
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause.Step()):
		}
	}
}

// send sends usages on the current connection, or on a new one. After an error for which another
// replica may be needed, the next call connects again.
func (s *UsageSender) send(ctx context.Context, batch []usage.Usage) (*workloadresizerv1.ReportUsageResponse, error) {
	if s.client == nil {
		client, err := s.Dial()
		if err != nil {
			return nil, err
		}
		s.client = client
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	response, err := s.client.Report(ctx, usageMessages(batch), nodeMessage(s.Node()))
	if code := status.Code(err); code == codes.Unavailable || code == codes.DeadlineExceeded {
		s.disconnect()
	}
	return response, err
}

func (s *UsageSender) disconnect() {
	if s.client != nil {
		_ = s.client.Close()
		s.client = nil
	}
}

// take removes all pending usages and returns those that are not too old, and not too many.
func (s *UsageSender) take() []usage.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	batch := s.pending
	s.pending = nil
	old := time.Now().Add(-usagePatience)
	drop, _ := slices.BinarySearchFunc(batch, old, func(u usage.Usage, t time.Time) int { return u.End.Compare(t) })
	drop = max(drop, len(batch)-mostUsages)
	s.notes.dropped += drop
	return batch[drop:]
}

// keep puts usages back that have to be sent again. They are older than what was added meanwhile.
func (s *UsageSender) keep(batch []usage.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(slices.Clone(batch), s.pending...)
}

// sift returns the usages to send again. The response lists only the first errors: of the usages
// after them, some may have been accepted. They count once if they are sent twice.
func (s *UsageSender) sift(batch []usage.Usage, response *workloadresizerv1.ReportUsageResponse) (again []usage.Usage) {
	errs := slices.Clone(response.GetErrors())
	slices.SortFunc(errs, func(a, b *workloadresizerv1.UsageError) int { return cmp.Compare(a.GetIndex(), b.GetIndex()) })
	next := int64(0)
	for _, e := range errs {
		if e.GetIndex() < next || e.GetIndex() >= int64(len(batch)) {
			continue
		}
		next = e.GetIndex() + 1
		switch u := batch[e.GetIndex()]; {
		case e.GetCode() != workloadresizerv1.UsageErrorCode_USAGE_ERROR_CODE_CONTAINER_UNKNOWN:
			s.notes.rejected(1, e.GetMessage())
		case time.Since(u.End) >= unknownPatience:
			s.notes.unknown++
		default:
			again = append(again, u)
		}
	}
	if response.GetRejected() > int64(len(errs)) {
		again = append(again, batch[next:]...)
	}
	return again
}
