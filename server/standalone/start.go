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

// Start starts a server of the configuration, the text of a config.yaml, inside of
// this process, and returns a connection to it that nobody else can use. stop
// closes the connection, ends the server and waits for that; it is to be called
// once. The error is what is wrong with the configuration.
func Start(ctx context.Context, configuration []byte) (conn *grpc.ClientConn, stop func() error, err error) {
	store := ratios.NewStore(file.Text(configuration))
	changed := store.Watch()
	listener := newPipeListener()
	api := newServer(store, Config{GRPC: listener})

	// What it would log, it tells by its errors.
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, klog.New(nil)))
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, store, api) }()
	end := func() error {
		cancel()
		return <-ended
	}
	<-changed
	if err := store.Problem(); err != nil {
		_ = end() // It did nothing yet.
		return nil, nil, fmt.Errorf("start a server of the configuration: %w", err)
	}
	conn, err = grpc.NewClient("passthrough:///standalone", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithContextDialer(listener.dial), grpc.WithNoProxy())
	if err != nil {
		_ = end()
		return nil, nil, fmt.Errorf("connect to the server of the configuration: %w", err)
	}
	return conn, func() error {
		_ = conn.Close() // Only closing it twice is an error.
		return end()
	}, nil
}
