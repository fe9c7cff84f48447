package client

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// samplesPerPart is how many samples a message of IngestSamples may have. That
// many are far below the server's limit of bytes, however long their texts are.
const samplesPerPart = 1000

// IngestSamples has measurements kept, in as many messages as that takes, and
// returns what became of them. With validateOnly nothing is stored. Everything
// can be sent once more if the answer is lost.
func (c *Client) IngestSamples(ctx context.Context, samples []*workloadresizerv1.BenchmarkSample, validateOnly bool) (*workloadresizerv1.IngestSamplesResponse, error) {
	// A stream that is given up halfway must not linger.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.benchmarks.IngestSamples(ctx)
	if err != nil {
		return nil, err
	}
	for part := range slices.Chunk(samples, samplesPerPart) {
		err := stream.Send(&workloadresizerv1.IngestSamplesRequest{Samples: part, ValidateOnly: validateOnly})
		if errors.Is(err, io.EOF) {
			break // The server has ended it, and the answer tells why.
		}
		if err != nil {
			return nil, err
		}
	}
	return stream.CloseAndRecv()
}

// ListBenchmarks yields what the samples come to, by node type, CPU model,
// benchmark and version, and asks for page after page meanwhile; the request's
// page_size is how many to ask for at once. An error is yielded once, last.
func (c *Client) ListBenchmarks(ctx context.Context, request *workloadresizerv1.ListBenchmarksRequest) iter.Seq2[*workloadresizerv1.Benchmark, error] {
	return func(yield func(*workloadresizerv1.Benchmark, error) bool) {
		page := proto.CloneOf(request)
		for {
			resp, err := c.benchmarks.ListBenchmarks(ctx, page)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, benchmark := range resp.GetBenchmarks() {
				if !yield(benchmark, nil) {
					return
				}
			}
			if resp.GetNextPageToken() == "" {
				return
			}
			page.PageToken = resp.GetNextPageToken()
		}
	}
}
