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
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/streams"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

const (
	// mostSamples is the maximum number of samples in a stream, and maxSampleErrors the
	// maximum number of errors that are returned.
	mostSamples     = 200_000
	maxSampleErrors = 100
	// MostStreams is how many streams of samples may arrive at a time, and
	// MostStreamsPerAccount how many of one account, or of a node agent. Each keeps its errors.
	MostStreams           = 1024
	MostStreamsPerAccount = 4
	// ingestTime is the maximum duration of a stream of samples.
	ingestTime = 10 * time.Minute
)

// IngestSamples implements workloadresizerv1.BenchmarkServiceServer.
func (s *Service) IngestSamples(stream grpc.ClientStreamingServer[workloadresizerv1.IngestSamplesRequest, workloadresizerv1.IngestSamplesResponse]) error {
	// Not view: with a stream per node, it would create as many views at the same time.
	if err := s.ready(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(stream.Context(), ingestTime)
	defer cancel()
	ctx, received := s.config.Receiving.Enter(ctx)
	in := &ingest{service: s, caller: access.FromContext(ctx)}
	// The response is the only message that is sent, so SendWithin limits only the total
	// time.
	return limits.Cause(ctx, (&streams.Call{SendWithin: ingestTime}).Run(ctx, func(ctx context.Context) error {
		defer received()
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
	}))
}

// ingest is one stream of samples. It holds only the samples of the current message.
type ingest struct {
	service  *Service
	caller   access.Caller
	received int
	response workloadresizerv1.IngestSamplesResponse
}

// take stores or validates the samples of a message.
func (in *ingest) take(ctx context.Context, request *workloadresizerv1.IngestSamplesRequest) error {
	first := in.received
	if in.received += len(request.GetSamples()); in.received > mostSamples {
		return rpcerror.BadField("samples", fmt.Sprintf("must be at most %d in one stream: send the rest in another stream; the samples of earlier messages are stored", mostSamples))
	}
	if in.service.config.Reconciler.DryRun && !request.GetValidateOnly() {
		return rpcerror.New(rpcerror.ReadOnly, "samples cannot be stored: the server runs with --dry-run and writes nothing; set validate_only to validate them")
	}
	// New slices for each message: Add may keep them longer than this call.
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
	if node, bound := in.caller.Node(); bound && !request.GetValidateOnly() {
		in.service.config.Reconciler.Gate.Release(node)
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

// conflict is the fault of a sample that has the id of another sample.
var conflict = &sampleFault{workloadresizerv1.SampleErrorCode_SAMPLE_ERROR_CODE_ID_CONFLICT, "id", "is already used by another sample of the node type: give each sample its own id"}

func (in *ingest) reject(index int, m *workloadresizerv1.BenchmarkSample, wrong *sampleFault) {
	in.response.Rejected++
	if len(in.response.GetErrors()) == maxSampleErrors {
		return
	}
	in.response.Errors = append(in.response.Errors, &workloadresizerv1.SampleError{
		Index: int64(index), Id: clip(m.GetId(), maxIDBytes), Code: wrong.code, Field: wrong.field, Message: clip(wrong.message, maxFaultBytes),
	})
}

// samplesError translates the errors of storing samples.
func samplesError(err error) error {
	return translate.DocumentError(err, translate.DocumentReasons{
		Missing: rpcerror.SamplesNotWritable, Invalid: rpcerror.SamplesNotWritable, Refused: rpcerror.SamplesNotWritable, NotReady: rpcerror.SamplesNotStored,
	})
}
