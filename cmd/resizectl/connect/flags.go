package connect

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

const (
	serverVariable  = "RESIZECTL_SERVER"
	tokenVariable   = "RESIZECTL_TOKEN"
	accountVariable = "RESIZECTL_SERVICE_ACCOUNT"
	defaultService  = client.DefaultNamespace + "/" + client.DefaultService
)

// clusterFlags select the server of a cluster. Setting any of them is enough.
var clusterFlags = append(slices.Clone(kubectlFlags), "service", "service-account-token", "token-audience")

// kubectl has kubectlFlags, too. serverFlags select a server by its address, or say how to authenticate to any.
var (
	kubectlFlags = []string{"kubeconfig", "context", "cluster", "user"}
	serverFlags  = []string{"server", "plaintext", "certificate-authority", "tls-server-name", "client-certificate", "client-key", "token-file"}
)

// New adds the flags that select a server to the root command, and returns the connection that
// they configure. version is the version of the program; plugin means that it runs as a kubectl
// plugin. A note that nothing selected the server goes to errOut.
func New(root *cobra.Command, errOut io.Writer, version string, plugin bool) *Connection {
	flags := root.PersistentFlags()
	c := &Connection{flags: flags, errOut: errOut, version: version, plugin: plugin}
	c.addFlags(flags)
	c.completeKubeconfig(root)
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) { c.setNamespace(cmd) }
	return c
}

func (c *Connection) addFlags(flags *pflag.FlagSet) {
	server, usage := os.Getenv(serverVariable), serverVariable+" sets the default"
	if c.plugin {
		// With kubectl, users mean the cluster, even if they have set an address for
		// resizectl.
		server, usage = "", "without it, the server of the cluster is used"
	} else {
		usage += "; without either, your own server on this machine is used"
	}
	flags.StringVar(&c.server, "server", server, "address of the workload-resizer server, host:port or unix:///PATH; "+usage)
	flags.StringVar(&c.service, "service", defaultService, "Service of the server in a cluster, NAMESPACE/NAME")
	c.kube.addFlags(flags)

	flags.StringVar(&c.authority, "certificate-authority", "", "file with the authority of the server's certificate (default: the system's authorities or, for the server of a cluster, the ConfigMap workload-resizer-ca)")
	flags.StringVar(&c.serverName, "tls-server-name", "", "name that the server's certificate must be for, if not the server's host")
	flags.StringVar(&c.certificate, "client-certificate", "", "file with the client certificate to authenticate with")
	flags.StringVar(&c.key, "client-key", "", "file with the private key of --client-certificate")
	flags.StringVar(&c.tokenFile, "token-file", "", "file with the bearer token to authenticate with; "+tokenVariable+" sets the token itself")
	flags.StringVar(&c.account, "service-account-token", "", "ServiceAccount to authenticate as, NAMESPACE/NAME, by a token that is requested for it; "+accountVariable+" sets the default for the server of a cluster, if no token or client certificate is set")
	flags.StringVar(&c.audience, "token-audience", client.DefaultAudience, "audience of the token of the ServiceAccount or kubeconfig; if set, a kubeconfig token that names no audience is sent, too")
	flags.BoolVar(&c.plaintext, "plaintext", false, "connect without TLS; no token is then sent to another machine")
	command.DurationVar(flags, &c.timeout, "timeout", defaultTimeout, "how long to wait for the whole answer; 0 for no limit")
}

// inCluster reports whether the flags select the server of a cluster instead of an address.
func (c *Connection) inCluster() (bool, error) {
	for _, name := range clusterFlags {
		if !c.flags.Changed(name) {
			continue
		}
		if c.flags.Changed("server") {
			return false, fmt.Errorf("--server sets the address of a server, and --%s selects the server of a cluster: set only one of them", name)
		}
		return true, nil
	}
	if c.server == "" && c.flags.Changed("server") {
		// A script whose variable is not set must not reach another server.
		return false, fmt.Errorf("--server is empty; set it to an address, or omit it for %s", c.defaultServer())
	}
	return c.server == "" && (c.plugin || c.preferCluster), nil
}

// defaultServer returns which server is called if no flag selects one.
func (c *Connection) defaultServer() string {
	if c.plugin {
		return "the server of the cluster"
	}
	return "the one in " + serverVariable + ", or else your own server on this machine"
}

// address returns the address of the server, and whether it is only the default: the socket
// of the user's own server on this machine.
func (c *Connection) address() (address string, local bool, err error) {
	if c.server != "" {
		return c.server, false, nil
	}
	address, err = client.LocalAddress()
	return address, true, err
}

// options returns the options that all servers have in common.
func (c *Connection) options() ([]client.Option, error) {
	// The timeout of Call applies to streams too, and 0 must mean no limit.
	opts := []client.Option{client.WithDefaultTimeout(0), client.WithUserAgent("resizectl/" + c.version), client.WithAuthor(Author())}
	switch {
	case (c.certificate == "") != (c.key == ""):
		return nil, errors.New("--client-certificate and --client-key must be set together")
	case c.tokenFile != "" && c.account != "":
		return nil, errors.New("--token-file and --service-account-token are two identities: set only one of them")
	case c.plaintext && (c.authority != "" || c.serverName != "" || c.certificate != ""):
		return nil, errors.New("--plaintext uses no certificates: it cannot be combined with --certificate-authority, --tls-server-name or --client-certificate")
	}
	if err := c.checkFiles(); err != nil {
		return nil, err
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
		// The file is read for every call. An error is better reported before the first.
		if _, err := os.ReadFile(c.tokenFile); err != nil {
			return nil, fmt.Errorf("read the token: %w; set --token-file to a file with a token", err)
		}
		opts = append(opts, client.WithTokenFile(c.tokenFile))
	case token != "" && c.account == "":
		opts = append(opts, client.WithToken(token))
	}
	return opts, nil
}

// checkFiles reads the certificates. The client would report a fault in them as one of the connection.
func (c *Connection) checkFiles() error {
	if c.authority != "" {
		pem, err := os.ReadFile(c.authority)
		if err == nil && !x509.NewCertPool().AppendCertsFromPEM(pem) {
			err = errors.New("it has no certificate in PEM")
		}
		if err != nil {
			return fmt.Errorf("--certificate-authority %s: %w; set it to a file with the certificate of an authority", c.authority, err)
		}
	}
	if c.certificate != "" {
		if _, err := tls.LoadX509KeyPair(c.certificate, c.key); err != nil {
			return fmt.Errorf("--client-certificate %s with --client-key %s: %w; set them to a certificate and its key, in PEM", c.certificate, c.key, err)
		}
	}
	return nil
}

// askAs returns the ServiceAccount to authenticate as in a cluster, and what names it; empty
// if another identity is used.
func (c *Connection) askAs() (account, namedBy string) {
	if c.account != "" {
		return c.account, "--service-account-token"
	}
	if c.tokenFile != "" || c.certificate != "" || os.Getenv(tokenVariable) != "" {
		return "", ""
	}
	return os.Getenv(accountVariable), accountVariable
}

// nameOf parses a value of the form NAMESPACE/NAME.
func nameOf(value, from string) (namespace, name string, err error) {
	namespace, name, found := strings.Cut(value, "/")
	if !found || namespace == "" || name == "" || strings.Contains(name, "/") {
		return "", "", fmt.Errorf("%s %q is not NAMESPACE/NAME, such as %s", from, value, defaultService)
	}
	return namespace, name, nil
}
