package standalone

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/file"
)

// Start starts a server with the configuration, the text of a config.yaml, inside this
// process. It returns a connection to the server that no other program can use. stop closes
// the connection, stops the server and waits for it to end; call it once. The error is what
// is wrong with the configuration.
func Start(ctx context.Context, configuration []byte) (conn *grpc.ClientConn, stop func() error, err error) {
	store := ratios.NewStore(file.Text(configuration))
	changed := store.Watch()
	listener := newPipeListener()
	api := newServer(store, Config{GRPC: listener})

	// The errors contain what would be logged.
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, klog.New(nil)))
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, store, api) }()
	end := func() error {
		cancel()
		return <-ended
	}
	<-changed
	if err := store.Problem(); err != nil {
		_ = end() // The server has done nothing yet.
		return nil, nil, fmt.Errorf("start a server with the configuration: %w", err)
	}
	conn, err = grpc.NewClient("passthrough:///standalone", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(listener.dial), grpc.WithNoProxy())
	if err != nil {
		_ = end()
		return nil, nil, fmt.Errorf("connect to the server with the configuration: %w", err)
	}
	return conn, func() error {
		_ = conn.Close() // Only closing it twice is an error.
		return end()
	}, nil
}
