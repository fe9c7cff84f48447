package deliver

import (
	"context"
	"errors"
	"io"

	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// UsageClient is a connection to a server.
type UsageClient interface {
	// Report sends usages of containers, and that of the node unless it is nil. If the answer is lost, all of
	// them can be sent again.
	Report(context.Context, []*workloadresizerv1.ContainerUsage, *workloadresizerv1.NodeUsage) (*workloadresizerv1.ReportUsageResponse, error)
	Close() error
}

// Connection returns a client's connection.
func Connection(c *client.Client) UsageClient { return connection{c.Usage(), c.Close} }

type connection struct {
	service workloadresizerv1.UsageServiceClient
	close   func() error
}

// Close implements UsageClient.
func (c connection) Close() error { return c.close() }

const (
	// partBytes is how large a message gets before the next one begins: with one more usage, it
	// stays below the server's limit of 64 KiB.
	partBytes = 32 << 10
	// partUsages is how many usages a message can have.
	partUsages = 1000
)

// Report implements UsageClient, with as many messages as needed.
func (c connection) Report(ctx context.Context, usages []*workloadresizerv1.ContainerUsage, node *workloadresizerv1.NodeUsage) (*workloadresizerv1.ReportUsageResponse, error) {
	// A stream that is abandoned halfway must not linger.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.service.ReportUsage(ctx)
	if err != nil {
		return nil, err
	}
	for len(usages) > 0 {
		n := 0
		for size := 0; n < min(len(usages), partUsages) && size < partBytes; n++ {
			size += proto.Size(usages[n])
		}
		err := stream.Send(&workloadresizerv1.ReportUsageRequest{Usages: usages[:n], NodeUsage: node})
		node = nil
		if errors.Is(err, io.EOF) {
			break // The server ended the stream, and its answer says why.
		}
		if err != nil {
			return nil, err
		}
		usages = usages[n:]
	}
	return stream.CloseAndRecv()
}
