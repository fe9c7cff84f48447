package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	reconciling "github.com/workload-resizer/workload-resizer/reconciler/creation"
	"github.com/workload-resizer/workload-resizer/server/admission"
)

// creationOptions are the flags of sizes at creation.
type creationOptions struct {
	enabled bool
	address string
}

func (o *creationOptions) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&o.enabled, "size-at-creation", false, "size pods while they are created, if they name the node or the node type where they will run, or their sizes follow usage; needs TLS, a Secret for keys and a MutatingWebhookConfiguration, which the component size-at-creation creates")
	flags.StringVar(&o.address, "webhook-bind-address", ":9443", "address at which the API server asks for sizes at creation, with the certificate of the gRPC API")
}

func (o *creationOptions) validate(encrypted bool, reject func(flag, format string, args ...any)) {
	if o.enabled && !encrypted {
		reject("size-at-creation", "needs TLS, since the API server verifies whom it asks: set --tls-self-signed, or --tls-cert-file and --tls-private-key-file")
	}
}

// creation is what sizes at creation need.
type creation struct {
	keys *admission.Keys
	// authority tells the API server how to verify the server; nil in a dry run, which writes nothing.
	authority *admission.Authority
	listener  net.Listener
	tls       *tls.Config
	namespace string
}

// newCreation returns what sizes at creation need; nil if they are not enabled.
func newCreation(o *options, client kubernetes.Interface, config *tls.Config) (*creation, error) {
	if !o.creation.enabled {
		return nil, nil
	}
	listener, err := net.Listen("tcp", o.creation.address)
	if err != nil {
		return nil, fmt.Errorf("--webhook-bind-address: %w", err)
	}
	c := &creation{
		keys:     admission.NewKeys(client, o.configNamespace, o.names().CreationKeys, clock.RealClock{}, o.dryRun),
		listener: listener, tls: config, namespace: o.configNamespace,
	}
	if !o.dryRun {
		c.authority = admission.NewAuthority(client, o.configNamespace, o.names().CA, o.names().Creation, c.keys.Token)
	}
	return c, nil
}

// afterKeys returns a function that runs another one once it is known which keys there are: pods are read only once.
func (c *creation) afterKeys(run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-c.keys.Read():
			return run(ctx)
		case <-ctx.Done():
			return nil
		}
	}
}

// problem returns why pods may not be sized at their creation; nil if there is no problem.
func (c *creation) problem() error {
	var unverified error
	if c.authority != nil {
		unverified = c.authority.Problem()
	}
	if err := errors.Join(c.keys.Problem(), unverified); err != nil {
		return fmt.Errorf("pods are not sized at their creation: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return nil
}

// parts returns what runs next to the server.
func (c *creation) parts(sizer *reconciling.Sizer, metrics prometheus.Registerer) []func(context.Context) error {
	serving := admission.New(admission.Config{Sizer: sizer, Issued: func(token string) bool { return c.keys.Ring().Issued(token) }, Own: c.namespace, DryRun: c.authority == nil, Listener: c.listener, TLS: c.tls, Metrics: metrics, Problem: c.problem})
	all := []func(context.Context) error{c.keys.Run, serving.Run}
	if c.authority != nil {
		all = append(all, c.authority.Run)
	}
	return all
}
