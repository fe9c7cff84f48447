package connect

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// explain rewrites the errors of the connection for people. Others, and what
// the server itself says, are left as they are, but without gRPC's own words.
func (c *Connection) explain(err error) error {
	var answer interface{ GRPCStatus() *status.Status }
	var broken *client.BrokenStreamError
	isStatus, isBroken := errors.As(err, &answer), errors.As(err, &broken)
	switch {
	case c.timeout > 0 && status.Code(err) == codes.DeadlineExceeded && client.Reason(err) == "":
		return fmt.Errorf("no complete answer from %s within %s\nallow more time with --timeout (0 for no limit)", c.where(), c.timeout)
	case isBroken:
		return fmt.Errorf("the answer of %s broke off after %s, so it is not complete: %s\nrun the command again",
			c.where(), print.CountOf(int64(broken.Received), "pod"), MessageOf(broken.Err))
	case client.IsUnreachable(err):
		cause := dialCause(MessageOf(err))
		return fmt.Errorf("no workload-resizer server answers at %s: %s\n%s", c.where(), cause, c.remedy(cause))
	case status.Code(err) == codes.Unauthenticated:
		return fmt.Errorf("%s does not know who asks: %s\n%s", c.where(), MessageOf(err), c.identityHint())
	case isStatus:
		return errors.New(RefusedBecause(err))
	}
	return err
}

// where names the server that is asked.
func (c *Connection) where() string {
	if inCluster, _ := c.inCluster(); inCluster {
		return "Service " + c.service
	}
	return c.server
}

// remedy is what can be done about a connection that was not made.
func (c *Connection) remedy(cause string) string {
	inCluster, _ := c.inCluster()
	namespace, _, _ := strings.Cut(c.service, "/")
	switch {
	case strings.Contains(cause, "unknown authority"):
		return "name the authority of the server's certificate with --certificate-authority, if you know that this is your server"
	case strings.Contains(cause, "x509: certificate is "), strings.Contains(cause, "x509: cannot validate certificate for"):
		return "ask by the name that the certificate is for, or give that name with --tls-server-name"
	case strings.Contains(cause, "does not look like a TLS handshake"):
		return "the server does not encrypt; --plaintext asks it so, and everybody on the way can read along"
	case strings.Contains(cause, "server preface") && !strings.Contains(cause, "connection refused"):
		return "the server may encrypt: name the authority of its certificate with --certificate-authority"
	case inCluster:
		return "see whether its pods are ready, and what they log, with\n  kubectl -n " + namespace + " get pods"
	}
	return "start one with \"workload-resizer serve\", ask that of a cluster with --context or --service,\n" +
		"or name another address with " + c.addressFrom()
}

// addressFrom is where the address of a server comes from.
func (c *Connection) addressFrom() string {
	if c.plugin {
		return "--server"
	}
	return "--server or " + serverVariable
}

// identityHint is how to say who asks.
func (c *Connection) identityHint() string {
	const token = "give a token with --token-file or " + tokenVariable
	account, _ := c.askAs()
	if inCluster, _ := c.inCluster(); inCluster && account == "" {
		namespace, _, _ := strings.Cut(c.service, "/")
		return "ask as a ServiceAccount, such as --service-account-token " + namespace + "/workload-resizer-viewer, or " + token
	}
	return token + ", or a certificate with --client-certificate and --client-key"
}

// MessageOf is the message that the server wrote, if err is from a server.
func MessageOf(err error) string {
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
	for _, before := range []string{"Error while dialing: ", "authentication handshake failed: ", `connection error: desc = "`} {
		if _, cause, ok := strings.Cut(message, before); ok {
			return strings.TrimSuffix(cause, `"`)
		}
	}
	return message
}
