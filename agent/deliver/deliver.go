package deliver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
	"k8s.io/apimachinery/pkg/util/wait"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

const (
	// patience is how long Send keeps trying.
	patience = 5 * time.Minute
	// callTimeout is how long one attempt may take.
	callTimeout = 30 * time.Second
)

// RejectedError lists why the server will never accept some samples.
type RejectedError struct{ reasons []string }

// Error implements error.
func (e *RejectedError) Error() string {
	return "the server rejected samples: " + strings.Join(e.reasons, "; ")
}

// Sender sends the samples of one node.
type Sender struct {
	Client workloadresizerv1.BenchmarkServiceClient
	Node   string
}

// Send sends samples until the server has accepted all of them, or until patience runs out.
// It returns a *RejectedError if the server rejects samples. After any other error the caller
// may send the same samples again: a sample that is sent twice counts once.
func (s *Sender) Send(ctx context.Context, samples []sample.Sample) error {
	var rejected []string
	pending := messages(s.Node, samples)
	err := persist(ctx, "send samples", func(ctx context.Context) (again, err error) {
		response, err := s.call(ctx, pending)
		if err != nil {
			return nil, err
		}
		var reasons []string
		pending, reasons = sift(pending, response)
		rejected = append(rejected, reasons...)
		if len(pending) > 0 {
			return fmt.Errorf("the server does not know node %q yet", s.Node), nil
		}
		return nil, nil
	})
	if err != nil {
		return err
	}
	return errorOf(rejected)
}

// persist calls attempt until it succeeds, fails for good, or patience runs out. With again,
// the same call may succeed later.
func persist(ctx context.Context, what string, attempt func(context.Context) (again, err error)) error {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pause := wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.5, Steps: 10, Cap: 30 * time.Second}
	for {
		again, err := within(ctx, attempt)
		switch {
		case err != nil && !mayWork(err):
			return fmt.Errorf("%s: %w", what, &callError{err})
		case err != nil:
			again = &callError{err}
		case again == nil:
			return nil
		}
		select {
		case <-ctx.Done():
			if caller.Err() != nil {
				return fmt.Errorf("%s: %w; stopped before it was tried again", what, again)
			}
			return fmt.Errorf("%s: %w; gave up after %v", what, again, patience)
		case <-time.After(pause.Step()):
		}
	}
}

// callError is the error of a call in the words of the server, without those of gRPC.
type callError struct{ err error }

// Error implements error.
func (e *callError) Error() string {
	s := status.Convert(e.err)
	if s.Code() == codes.Unavailable {
		return "the server is unavailable: " + s.Message()
	}
	return s.Message()
}

// Unwrap returns the error with its code.
func (e *callError) Unwrap() error { return e.err }

func within(ctx context.Context, attempt func(context.Context) (again, err error)) (again, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return attempt(ctx)
}

func (s *Sender) call(ctx context.Context, pending []*workloadresizerv1.BenchmarkSample) (*workloadresizerv1.IngestSamplesResponse, error) {
	stream, err := s.Client.IngestSamples(ctx)
	if err != nil {
		return nil, err
	}
	// If this fails, the response carries the error.
	_ = stream.Send(&workloadresizerv1.IngestSamplesRequest{Samples: pending})
	return stream.CloseAndRecv()
}

// mayWork reports whether the same call may succeed later.
func mayWork(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Aborted:
		return true
	}
	return false
}

// sift returns the samples to send again, and why the server rejected the others.
func sift(sent []*workloadresizerv1.BenchmarkSample, response *workloadresizerv1.IngestSamplesResponse) (again []*workloadresizerv1.BenchmarkSample, rejected []string) {
	for _, e := range response.GetErrors() {
		if e.GetCode() == workloadresizerv1.SampleErrorCode_SAMPLE_ERROR_CODE_NODE_UNKNOWN && e.GetIndex() >= 0 && e.GetIndex() < int64(len(sent)) {
			again = append(again, sent[e.GetIndex()])
			continue
		}
		rejected = append(rejected, strings.TrimSpace(fmt.Sprintf("%s: %s %s", e.GetId(), e.GetField(), e.GetMessage())))
	}
	return again, rejected
}

func errorOf(rejected []string) error {
	if len(rejected) == 0 {
		return nil
	}
	return &RejectedError{rejected}
}

// Rejected reports whether err says that the server will never accept some samples.
func Rejected(err error) bool {
	var rejected *RejectedError
	return errors.As(err, &rejected)
}

// messages returns samples as protobuf messages. They name the node and not its type: the
// server knows the type.
func messages(node string, samples []sample.Sample) []*workloadresizerv1.BenchmarkSample {
	all := make([]*workloadresizerv1.BenchmarkSample, len(samples))
	for i := range samples {
		s := &samples[i]
		all[i] = &workloadresizerv1.BenchmarkSample{
			Id: s.ID, Node: node, CpuModel: s.CPUModel, Benchmark: s.Benchmark, Version: s.Version,
			Score: s.Score, Unit: s.Unit, Vcpus: int32(s.VCPUs), ThreadsPerCore: known(int32(s.ThreadsPerCore)), Threads: int32(s.Threads), SingleThreadScore: known(s.SingleThread),
			Runs: known(int32(s.Runs)), MeasureTime: timestamppb.New(s.Time), SpotCheck: s.Spot, Source: s.Source, OtherLoad: known(s.OtherLoad),
		}
	}
	return all
}

// known returns a number of a sample; nil for 0, which means that it was not measured.
func known[N int32 | int64 | float64](n N) *N {
	if n == 0 {
		return nil
	}
	return &n
}
