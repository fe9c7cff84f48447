package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/workload-resizer/workload-resizer/client"
)

// serverOptions are the flags with which commands on nodes reach the server.
type serverOptions struct {
	server            string
	serverCAFile      string
	serverCAConfigMap string
	serverName        string
	tokenFile         string
	kubeconfig        string
}

// addTo adds the flags for a command that sends something. users are the flags that need the API server.
func (o *serverOptions) addTo(flags *pflag.FlagSet, what, users string) {
	flags.StringVar(&o.server, "server", "", "address of the server to send "+what+" to, host:port")
	flags.StringVar(&o.serverCAFile, "server-ca-file", "", "PEM file with the certificate authorities for the server's certificate (default: the system's)")
	flags.StringVar(&o.serverCAConfigMap, "server-ca-config-map", "", "ConfigMap with the certificate authorities for the server, as NAMESPACE/NAME, to read from the API server instead of a file; for pods in another namespace, which cannot mount it")
	flags.StringVar(&o.serverName, "server-name", "", "name that the server's certificate must be valid for (default: the host of --server)")
	flags.StringVar(&o.tokenFile, "token-file", "", "file with the bearer token to authenticate with; read again for each call")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file for the cluster, for "+users+"; its current context is used (default: the cluster that the process runs in)")
}

// validate rejects flags that contradict each other.
func (o *serverOptions) validate(reject func(flag, format string, args ...any)) {
	if o.server == "" {
		for flag, value := range map[string]string{"server-ca-file": o.serverCAFile, "server-ca-config-map": o.serverCAConfigMap, "server-name": o.serverName, "token-file": o.tokenFile} {
			if value != "" {
				reject(flag, "requires --server")
			}
		}
	}
	if o.serverCAConfigMap != "" {
		if o.serverCAFile != "" {
			reject("server-ca-config-map", "cannot be combined with --server-ca-file")
		}
		if namespace, name, _ := strings.Cut(o.serverCAConfigMap, "/"); namespace == "" || name == "" || strings.Contains(name, "/") {
			reject("server-ca-config-map", "must be NAMESPACE/NAME, not %q", o.serverCAConfigMap)
		}
	}
}

// try finds errors that would otherwise occur only when something is sent.
func (o *serverOptions) try() error {
	if o.tokenFile == "" {
		return nil
	}
	if _, err := os.ReadFile(o.tokenFile); err != nil {
		return fmt.Errorf("--token-file: %w", err)
	}
	return nil
}

// dialer returns a function that connects to the server, as a command of this program.
func (o *serverOptions) dialer(command string) (func() (*client.Client, error), error) {
	opts := []client.Option{client.WithUserAgent("workload-resizer-" + command + "/" + build.Version)}
	if o.serverCAFile != "" {
		opts = append(opts, client.WithCAFile(o.serverCAFile))
	}
	if o.serverCAConfigMap != "" {
		config, err := restConfig(o.kubeconfig)
		if err != nil {
			return nil, fmt.Errorf("--server-ca-config-map: %w", err)
		}
		config.UserAgent = "workload-resizer-" + command + "/" + build.Version
		namespace, name, _ := strings.Cut(o.serverCAConfigMap, "/")
		opts = append(opts, client.WithPublishedCA(config, namespace, name))
	}
	if o.serverName != "" {
		opts = append(opts, client.WithServerName(o.serverName))
	}
	if o.tokenFile != "" {
		opts = append(opts, client.WithTokenFile(o.tokenFile))
	}
	return func() (*client.Client, error) {
		c, err := client.Dial(o.server, opts...)
		if err != nil {
			return nil, fmt.Errorf("--server: %w", err)
		}
		return c, nil
	}, nil
}
