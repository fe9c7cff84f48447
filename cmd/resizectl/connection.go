package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/client"
)

const (
	serverVariable = "RESIZECTL_SERVER"
	defaultServer  = "127.0.0.1:7443"
	defaultTimeout = 30 * time.Second
)

// connection says which server is asked, and how long it may take to answer.
type connection struct {
	server  string
	timeout time.Duration
}

func (c *connection) addFlags(flags *pflag.FlagSet) {
	server := os.Getenv(serverVariable)
	if server == "" {
		server = defaultServer
	}
	flags.StringVar(&c.server, "server", server, "address of the workload-resizer server, host:port on this machine; "+serverVariable+" sets the default")
	flags.DurationVar(&c.timeout, "timeout", defaultTimeout, "how long to wait for the whole answer; 0 for no limit")
}

// call runs ask with a client of the server. What ask returns comes back in
// words for people, with what they can do about it.
func (c *connection) call(ctx context.Context, ask func(context.Context, *client.Client) error) error {
	if c.timeout < 0 {
		return fmt.Errorf("--timeout %s is negative; 0 is no limit", c.timeout)
	}
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	// The timeout above holds for streams too, and 0 has to mean no limit.
	server, err := client.Dial(c.server, client.WithDefaultTimeout(0), client.WithUserAgent("resizectl/"+version()))
	if err != nil {
		return fmt.Errorf("%w\nthe address comes from --server or %s; a port is forwarded with\n  %s", err, serverVariable, portForward)
	}
	// Nothing is lost by a connection that does not close cleanly.
	defer func() { _ = server.Close() }()
	return c.explain(ask(ctx, server))
}

// explain rewrites the errors of the connection for people. Others, and what
// the server itself says, are left as they are, but without gRPC's own words.
func (c *connection) explain(err error) error {
	var answer interface{ GRPCStatus() *status.Status }
	var broken *client.BrokenStreamError
	isStatus, isBroken := errors.As(err, &answer), errors.As(err, &broken)
	switch {
	case c.timeout > 0 && status.Code(err) == codes.DeadlineExceeded && client.Reason(err) == "":
		return fmt.Errorf("no complete answer from %s within %s\nallow more time with --timeout (0 for no limit)", c.server, c.timeout)
	case isBroken:
		return fmt.Errorf("the answer of %s broke off after %s, so it is not complete: %s\nrun the command again",
			c.server, countOf(int64(broken.Received), "pod"), messageOf(broken.Err))
	case client.IsUnreachable(err):
		return fmt.Errorf("no workload-resizer server answers at %s: %s\n"+
			"start one with \"workload-resizer serve\", or forward the port of the one in the cluster with\n  %s\n"+
			"or name another address with --server or %s", c.server, dialCause(messageOf(err)), portForward, serverVariable)
	case isStatus:
		return errors.New(messageOf(err))
	}
	return err
}

// messageOf is the message that the server wrote, if err is from a server.
func messageOf(err error) string {
	var answer interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &answer) {
		return err.Error()
	}
	s := answer.GRPCStatus()
	if s.Message() == "" {
		return "the server gave no other reason than " + s.Code().String()
	}
	return s.Message()
}

// dialCause is the part of gRPC's message about a failed connection that a
// person can use, e.g. "dial tcp 127.0.0.1:7443: connect: connection refused";
// a message of another form is left as it is.
func dialCause(message string) string {
	if _, cause, ok := strings.Cut(message, "Error while dialing: "); ok {
		return strings.TrimSuffix(cause, `"`)
	}
	return message
}
