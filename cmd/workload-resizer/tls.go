package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/server/certs"
	"github.com/workload-resizer/workload-resizer/server/health"
	"github.com/workload-resizer/workload-resizer/server/selfsigned"
)

// certsPeriod is how long the server uses TLS files before it reads them again.
const certsPeriod = 10 * time.Second

// selfSignedOptions are the flags of a certificate that the server makes itself.
type selfSignedOptions struct {
	enabled  bool
	dnsNames []string
}

func (o *selfSignedOptions) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&o.enabled, "tls-self-signed", false, "create and renew the certificate of the gRPC API and its certificate authority")
	flags.StringSliceVar(&o.dnsNames, "tls-dns-names", nil, "DNS names that callers use for the server (default: workload-resizer.NAMESPACE.svc, which resizectl and node agents rely on, and workload-resizer.NAMESPACE.svc.cluster.local)")
}

// complete sets the default DNS names, the names of the Service in the namespace.
func (o *selfSignedOptions) complete(namespace string) {
	if len(o.dnsNames) == 0 {
		host := "workload-resizer." + namespace + ".svc"
		o.dnsNames = []string{host, host + ".cluster.local"}
	}
}

func (o *selfSignedOptions) validate(reject func(flag, format string, args ...any)) {
	if !o.enabled {
		return
	}
	for _, name := range o.dnsNames {
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			reject("tls-dns-names", "%q is not a valid DNS name: %s", name, problems[0])
		}
	}
}

// encryption is the TLS setup of the API.
type encryption struct {
	// config and certificate are nil for plaintext.
	config      *tls.Config
	certificate health.Certificate
	// run maintains the certificate; nil if nothing needs to.
	run func(context.Context) error
}

func newEncryption(o *options, client kubernetes.Interface) (encryption, error) {
	if !o.encrypted() {
		return encryption{}, nil
	}
	files := certs.Files{Certificate: o.tlsCertFile, PrivateKey: o.tlsKeyFile, ClientCA: o.clientCAFile}
	var keeper *selfsigned.Keeper
	if o.selfSigned.enabled {
		keeper = selfsigned.New(selfsigned.Config{
			Client: client, Namespace: o.configNamespace, SecretName: o.names().Certificate, ConfigMapName: o.names().CA,
			DNSNames: o.selfSigned.dnsNames, Clock: clock.RealClock{}, DryRun: o.dryRun,
		})
		files.GetCertificate = keeper.GetCertificate
	}
	source, err := certs.New(files, certsPeriod)
	if err != nil {
		return encryption{}, fmt.Errorf("set up TLS: %w", err)
	}
	if keeper == nil {
		return encryption{source.Config(), source, nil}, nil
	}
	return encryption{source.Config(), kept{keeper, source}, keeper.Run}, nil
}

// kept is a self-signed certificate, together with the file of client authorities.
type kept struct {
	*selfsigned.Keeper
	files *certs.Source
}

// Problem implements health.Certificate.
func (k kept) Problem() error { return errors.Join(k.Keeper.Problem(), k.files.Problem()) }
