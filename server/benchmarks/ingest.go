package benchmarks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/samples"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/streams"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

const (
	// mostSamples is how many samples a stream may have, and maxSampleErrors how
	// many of those that are wrong are told.
	mostSamples     = 200_000
	maxSampleErrors = 1000
	// ingestTime is how long a stream of samples may take at most.
	ingestTime = 10 * time.Minute
)

// IngestSamples implements the BenchmarkService.
func (s *Service) IngestSamples(stream grpc.ClientStreamingServer[workloadresizerv1.IngestSamplesRequest, workloadresizerv1.IngestSamplesResponse]) error {
	// Not a view: a stream of each node at once would have as many made.
	if err := s.ready(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(stream.Context(), ingestTime)
	defer cancel()
	in := &ingest{service: s, caller: access.FromContext(ctx)}
	// Nothing is sent but the response, so that only the time is bounded.
	return (&streams.Call{SendWithin: ingestTime}).Run(ctx, func(ctx context.Context) error {
		for {
			request, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return stream.SendAndClose(&in.response)
			}
			if err != nil {
				return err
			}
			if err := in.take(ctx, request); err != nil {
				return err
			}
		}
	})
}

// ingest is one stream of samples. It keeps no more of them than the message at
// hand has.
type ingest struct {
	service  *Service
	caller   access.Caller
	received int
	response workloadresizerv1.IngestSamplesResponse
}

// take keeps the samples of a message, or checks them.
func (in *ingest) take(ctx context.Context, request *workloadresizerv1.IngestSamplesRequest) error {
	first := in.received
	if in.received += len(request.GetSamples()); in.received > mostSamples {
		return rpcerror.BadField("samples", fmt.Sprintf("must be at most %d in one stream: send the rest in another one; those of the messages before are stored", mostSamples))
	}
	if in.service.config.Reconciler.DryRun && !request.GetValidateOnly() {
		return rpcerror.New(rpcerror.ReadOnly, "samples cannot be stored: the server runs with --dry-run and writes nothing; set validate_only to have them checked")
	}
	// Whoever keeps them may do so for longer than this call.
	good, at := make([]sample.Sample, 0, len(request.GetSamples())), make([]int, 0, len(request.GetSamples()))
	now := in.service.now()
	for i, m := range request.GetSamples() {
		made, wrong, err := in.service.sample(m, in.caller, now)
		switch {
		case err != nil:
			return err
		case wrong != nil:
			in.reject(first+i, m, wrong)
		default:
			good, at = append(good, made), append(at, i)
		}
	}
	if len(good) == 0 {
		return nil
	}
	keep := func() ([]samples.Outcome, error) { return in.service.config.Benchmarks.Add(ctx, good) }
	if request.GetValidateOnly() {
		keep = func() ([]samples.Outcome, error) { return in.service.config.Benchmarks.Preview(good) }
	}
	outcomes, err := keep()
	if err != nil {
		return samplesError(err)
	}
	for j, outcome := range outcomes {
		switch outcome {
		case samples.Stored:
			in.response.Stored++
		case samples.Known:
			in.response.Known++
		case samples.Old:
			in.response.Old++
		case samples.Conflict:
			in.reject(first+at[j], request.GetSamples()[at[j]], conflict)
		}
	}
	return nil
}

// conflict is what is wrong with a sample that has the id of another one.
var conflict = &sampleFault{workloadresizerv1.SampleErrorCode_SAMPLE_ERROR_CODE_ID_CONFLICT, "id", "is that of another sample of the node type: give each its own"}

func (in *ingest) reject(index int, m *workloadresizerv1.BenchmarkSample, wrong *sampleFault) {
	in.response.Rejected++
	if len(in.response.GetErrors()) == maxSampleErrors {
		return
	}
	in.response.Errors = append(in.response.Errors, &workloadresizerv1.SampleError{
		Index: int64(index), Id: clip(m.GetId(), maxIDBytes), Code: wrong.code, Field: wrong.field, Message: clip(wrong.message, maxFaultBytes),
	})
}

// samplesError translates what keeping samples answers.
func samplesError(err error) error {
	return translate.DocumentError(err, translate.DocumentReasons{
		Missing: rpcerror.SamplesNotWritable, Invalid: rpcerror.SamplesNotWritable, Refused: rpcerror.SamplesNotWritable, NotReady: rpcerror.SamplesNotStored,
	})
}
