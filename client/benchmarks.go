package client

import (
	"context"
	"errors"
	"io"
	"iter"

	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// samplesPart is how large a message of IngestSamples gets, in bytes, before the next one
// begins: with one more sample, it stays below the server's limit of 64 KiB.
const samplesPart = 32 << 10

// IngestSamples stores measurements, in as many messages as needed, and returns how many
// the server stored, knew already or rejected. With validateOnly, the server stores nothing.
// If the answer is lost, you can send all samples again. Each of progress is called after each message,
// with the number of samples that were sent.
func (c *Client) IngestSamples(ctx context.Context, samples []*workloadresizerv1.BenchmarkSample, validateOnly bool, progress ...func(sent, total int64)) (*workloadresizerv1.IngestSamplesResponse, error) {
	// A stream that is abandoned halfway must not linger.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.benchmarks.IngestSamples(ctx)
	if err != nil {
		return nil, err
	}
	sent, total := int64(0), int64(len(samples))
	for len(samples) > 0 {
		n := 0
		for size := 0; n < len(samples) && n < 1000 && size < samplesPart; n++ {
			size += proto.Size(samples[n])
		}
		part := samples[:n]
		samples = samples[n:]
		err := stream.Send(&workloadresizerv1.IngestSamplesRequest{Samples: part, ValidateOnly: validateOnly})
		if errors.Is(err, io.EOF) {
			break // The server ended the stream, and its answer says why.
		}
		if err != nil {
			return nil, err
		}
		sent += int64(n)
		for _, tell := range progress {
			tell(sent, total)
		}
	}
	return stream.CloseAndRecv()
}

// ListBenchmarks yields the results of the samples, by node type, CPU model, benchmark and
// version. It requests page after page as needed, of the request's page_size. An error is
// yielded once, last.
func (c *Client) ListBenchmarks(ctx context.Context, request *workloadresizerv1.ListBenchmarksRequest) iter.Seq2[*workloadresizerv1.Benchmark, error] {
	return items(pages(ctx, request, c.benchmarks.ListBenchmarks), (*workloadresizerv1.ListBenchmarksResponse).GetBenchmarks)
}

// ListFeeds yields the feeds of the server, ordered by name. An error is yielded once, last.
func (c *Client) ListFeeds(ctx context.Context) iter.Seq2[*workloadresizerv1.Feed, error] {
	return items(pages(ctx, &workloadresizerv1.ListFeedsRequest{}, c.benchmarks.ListFeeds), (*workloadresizerv1.ListFeedsResponse).GetFeeds)
}

// ListSuggestions returns the suggestions for all node types, and what they are relative to.
func (c *Client) ListSuggestions(ctx context.Context) (*workloadresizerv1.ListSuggestionsResponse, error) {
	return whole(pages(ctx, &workloadresizerv1.ListSuggestionsRequest{}, c.benchmarks.ListSuggestions), func(to, page *workloadresizerv1.ListSuggestionsResponse) {
		to.Suggestions = append(to.Suggestions, page.GetSuggestions()...)
	})
}
