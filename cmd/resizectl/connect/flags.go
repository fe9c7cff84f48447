package connect

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/workload-resizer/workload-resizer/client"
)

const (
	serverVariable  = "RESIZECTL_SERVER"
	tokenVariable   = "RESIZECTL_TOKEN"
	accountVariable = "RESIZECTL_SERVICE_ACCOUNT"
	defaultServer   = "127.0.0.1:7443"
	defaultService  = client.DefaultNamespace + "/" + client.DefaultService
)

// clusterFlags lead to the server of a cluster. Naming one is asking for that.
var clusterFlags = []string{"kubeconfig", "context", "cluster", "user", "service", "service-account-token", "token-audience"}

// New has the flags say which server is asked, for a program of a version,
// which kubectl may run as its plugin.
func New(flags *pflag.FlagSet, version string, plugin bool) *Connection {
	c := &Connection{flags: flags, version: version, plugin: plugin}
	c.addFlags(flags)
	return c
}

func (c *Connection) addFlags(flags *pflag.FlagSet) {
	server, usage := os.Getenv(serverVariable), serverVariable+" sets the default"
	switch {
	case c.plugin:
		// Whoever says kubectl means the cluster, whatever they have set for resizectl.
		server, usage = "", "without it, that of the cluster is asked"
	case server == "":
		server = defaultServer
	}
	flags.StringVar(&c.server, "server", server, "address of the workload-resizer server, host:port; "+usage)
	flags.StringVar(&c.service, "service", defaultService, "Service that the server of a cluster is behind, NAMESPACE/NAME")
	c.kube.addFlags(flags)

	flags.StringVar(&c.authority, "certificate-authority", "", "file with the authority of the server's certificate (default: that of the system, or of the cluster's ConfigMap workload-resizer-ca)")
	flags.StringVar(&c.serverName, "tls-server-name", "", "name that the server's certificate is for, if not its address")
	flags.StringVar(&c.certificate, "client-certificate", "", "file with the certificate that proves who asks")
	flags.StringVar(&c.key, "client-key", "", "file with the key of --client-certificate")
	flags.StringVar(&c.tokenFile, "token-file", "", "file with the token that proves who asks; "+tokenVariable+" is such a token")
	flags.StringVar(&c.account, "service-account-token", "", "ServiceAccount to ask as, NAMESPACE/NAME, by a token that is requested for it; "+accountVariable+" names the one for the server of a cluster where nothing else says who asks")
	flags.StringVar(&c.audience, "token-audience", client.DefaultAudience, "audience that the token of a ServiceAccount or of the kubeconfig is for; if given, one of the kubeconfig that does not tell is sent, too")
	flags.BoolVar(&c.plaintext, "plaintext", false, "encrypt nothing on the way to the server; then no token goes to another machine")
	flags.DurationVar(&c.timeout, "timeout", defaultTimeout, "how long to wait for the whole answer; 0 for no limit")
}

// inCluster tells whether the flags lead through a cluster, instead of to an
// address.
func (c *Connection) inCluster() (bool, error) {
	for _, name := range clusterFlags {
		if !c.flags.Changed(name) {
			continue
		}
		if c.flags.Changed("server") {
			return false, fmt.Errorf("--server is the address of a server, --%s leads to the server of a cluster: give one of them", name)
		}
		return true, nil
	}
	return c.server == "", nil
}

// options are those that all servers have in common.
func (c *Connection) options() ([]client.Option, error) {
	// The timeout of call holds for streams too, and 0 has to mean no limit.
	opts := []client.Option{client.WithDefaultTimeout(0), client.WithUserAgent("resizectl/" + c.version)}
	switch {
	case (c.certificate == "") != (c.key == ""):
		return nil, errors.New("--client-certificate and --client-key belong together: give both")
	case c.tokenFile != "" && c.account != "":
		return nil, errors.New("--token-file and --service-account-token are two identities: give one of them")
	case c.plaintext && (c.authority != "" || c.serverName != "" || c.certificate != ""):
		return nil, errors.New("--plaintext uses no certificates: leave it out, or --certificate-authority, --tls-server-name and --client-certificate")
	}
	if c.authority != "" {
		opts = append(opts, client.WithCAFile(c.authority))
	}
	if c.serverName != "" {
		opts = append(opts, client.WithServerName(c.serverName))
	}
	if c.certificate != "" {
		opts = append(opts, client.WithClientCertificate(c.certificate, c.key))
	}
	if c.plaintext {
		opts = append(opts, client.WithPlaintext())
	}
	token := os.Getenv(tokenVariable)
	switch {
	case c.tokenFile != "":
		// It is read for every call. That it cannot be is better said before the first.
		if _, err := os.ReadFile(c.tokenFile); err != nil {
			return nil, fmt.Errorf("read the token: %w\nname a file with a token with --token-file", err)
		}
		opts = append(opts, client.WithTokenFile(c.tokenFile))
	case token != "" && c.account == "":
		opts = append(opts, client.WithToken(token))
	}
	return opts, nil
}

// askAs is the ServiceAccount to ask as in a cluster, and what names it; empty if
// somebody else asks.
func (c *Connection) askAs() (account, namedBy string) {
	if c.account != "" {
		return c.account, "--service-account-token"
	}
	if c.tokenFile != "" || c.certificate != "" || os.Getenv(tokenVariable) != "" {
		return "", ""
	}
	return os.Getenv(accountVariable), accountVariable
}

// nameOf reads a value that names something in a namespace.
func nameOf(value, from string) (namespace, name string, err error) {
	namespace, name, found := strings.Cut(value, "/")
	if !found || namespace == "" || name == "" || strings.Contains(name, "/") {
		return "", "", fmt.Errorf("%s %q is not NAMESPACE/NAME", from, value)
	}
	return namespace, name, nil
}
