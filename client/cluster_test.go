package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const serverHost = DefaultService + "." + DefaultNamespace + ".svc"

// whoServer answers ListRatios with the name of the caller, as the revision. The caller
// authenticates by client certificate, or by a token that the API server reviews.
type whoServer struct {
	workloadresizerv1.UnimplementedRatioServiceServer
	api kubernetes.Interface
}

func (s whoServer) ListRatios(ctx context.Context, _ *workloadresizerv1.ListRatiosRequest) (*workloadresizerv1.ListRatiosResponse, error) {
	p, _ := peer.FromContext(ctx)
	if info, ok := p.AuthInfo.(credentials.TLSInfo); ok && len(info.State.VerifiedChains) > 0 {
		return &workloadresizerv1.ListRatiosResponse{Revision: info.State.PeerCertificates[0].Subject.CommonName}, nil
	}
	md, _ := metadata.FromIncomingContext(ctx)
	token := strings.TrimPrefix(strings.Join(md.Get("authorization"), ""), "Bearer ")
	if token == "" {
		return &workloadresizerv1.ListRatiosResponse{Revision: "nobody"}, nil
	}
	review, err := s.api.AuthenticationV1().TokenReviews().Create(ctx, &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: []string{DefaultAudience}},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	if !review.Status.Authenticated {
		return nil, status.Error(codes.Unauthenticated, "the token is not valid here")
	}
	return &workloadresizerv1.ListRatiosResponse{Revision: review.Status.User.Username}, nil
}

// inCluster is a cluster with a server behind a Service. The server is a pod whose port is
// a port of this machine, as for every pod of the test cluster.
type inCluster struct {
	t      *testing.T
	config *rest.Config
	api    *kubernetes.Clientset
}

// serveAt starts a server at the address and returns what stops it.
func (c *inCluster) serveAt(address string, opts ...grpc.ServerOption) (port int, stop func()) {
	c.t.Helper()
	var listener net.Listener
	localcluster.Eventually(c.t, "listen at "+address, func() (err error) {
		listener, err = net.Listen("tcp4", address)
		return err
	})
	server := grpc.NewServer(opts...)
	workloadresizerv1.RegisterRatioServiceServer(server, whoServer{api: c.api})
	go func() { _ = server.Serve(listener) }()
	c.t.Cleanup(server.Stop)
	return listener.Addr().(*net.TCPAddr).Port, server.Stop
}

// publish creates a Service with one pod that serves at the port, and waits until the pod
// runs behind it. The pod is not ready while it lacks a condition in gates.
func (c *inCluster) publish(name, pod string, port int, gates ...string) {
	c.t.Helper()
	var readiness []string
	for _, gate := range gates {
		readiness = append(readiness, "{conditionType: "+gate+"}")
	}
	manifest := fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata: {name: %[1]s, namespace: %[4]s}
spec:
  selector: {app: %[1]s}
  ports:
  - {name: grpc, port: 443, targetPort: api}
  - {name: http, port: 80, targetPort: 8080}
---
apiVersion: v1
kind: Pod
metadata: {name: %[2]s, namespace: %[4]s, labels: {app: %[1]s}}
spec:
  automountServiceAccountToken: false
  readinessGates: [%[5]s]
  containers:
  - {name: server, image: simulated/server, ports: [{name: api, containerPort: %[3]d}]}
`, name, pod, port, DefaultNamespace, strings.Join(readiness, ", "))
	localcluster.Eventually(c.t, "apply "+name, func() error { return localcluster.Apply(c.t.Context(), c.config, []byte(manifest)) })
	localcluster.Eventually(c.t, pod+" to run behind its Service", func() error {
		running, err := c.api.CoreV1().Pods(DefaultNamespace).Get(c.t.Context(), pod, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(running.Status.Conditions, func(is corev1.PodCondition) bool {
			return is.Type == corev1.ContainersReady && is.Status == corev1.ConditionTrue
		}) {
			return fmt.Errorf("its status is %v", running.Status)
		}
		list, err := c.api.DiscoveryV1().EndpointSlices(DefaultNamespace).List(c.t.Context(), metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=" + name})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(podsBehind(list.Items), func(b backend) bool { return b.pod == pod }) {
			return fmt.Errorf("not among %v", list.Items)
		}
		return nil
	})
}

func (c *inCluster) apply(manifest string) {
	c.t.Helper()
	if err := localcluster.Apply(c.t.Context(), c.config, []byte(manifest)); err != nil {
		c.t.Fatal(err)
	}
}

// token returns a token of the ServiceAccount asker for the audiences.
func (c *inCluster) token(audiences ...string) string {
	c.t.Helper()
	request, err := c.api.CoreV1().ServiceAccounts(DefaultNamespace).CreateToken(c.t.Context(), "asker",
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}, metav1.CreateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return request.Status.Token
}

// as returns the configuration of a user with the token.
func (c *inCluster) as(token string) *rest.Config {
	config := rest.AnonymousClientConfig(c.config)
	config.BearerToken = token
	return config
}

// who dials and returns the caller that the server sees.
func (c *inCluster) who(config *rest.Config, opts ...Option) (string, error) {
	c.t.Helper()
	server, err := DialCluster(c.t.Context(), config, opts...)
	if err != nil {
		return "", err
	}
	defer func() { _ = server.Close() }()
	answer, err := server.ListRatios(c.t.Context())
	return answer.GetRevision(), err
}

func TestDialCluster(t *testing.T) {
	up := localcluster.ForTest(t, "n2d=1")
	c := &inCluster{t: t, config: up.Config(), api: kubernetes.NewForConfigOrDie(up.Config())}
	authority := newAuthority(t)
	c.apply("{apiVersion: v1, kind: Namespace, metadata: {name: " + DefaultNamespace + "}}")
	if _, err := c.who(c.config); err == nil || !strings.Contains(err.Error(), "there is no ConfigMap workload-resizer-system/workload-resizer-ca") {
		t.Errorf("without the authority: %v", err)
	}
	c.apply(fmt.Sprintf(`
apiVersion: v1
kind: ConfigMap
metadata: {name: workload-resizer-ca, namespace: %[1]s}
data: {ca.crt: %[2]q}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: asker, namespace: %[1]s}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: asker}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: asker, namespace: %[1]s}]
`, DefaultNamespace, authority.pem()))

	secured := func(clients *x509.CertPool) grpc.ServerOption {
		return grpc.Creds(credentials.NewTLS(&tls.Config{
			Certificates: []tls.Certificate{authority.server(serverHost, "trusting."+DefaultNamespace+".svc")},
			ClientAuth:   tls.VerifyClientCertIfGiven, ClientCAs: clients,
		}))
	}
	port, stop := c.serveAt("127.0.0.1:0", secured(authority.pool()))
	c.publish(DefaultService, "first", port)
	ofCluster, err := authoritiesOf(c.config.CAData)
	if err != nil {
		t.Fatal(err)
	}
	trusting, _ := c.serveAt("127.0.0.1:0", secured(ofCluster))
	c.publish("trusting", "trusting", trusting)
	open, _ := c.serveAt("127.0.0.1:0")
	c.publish("open", "open", open)
	c.publish("unready", "unready", open, "example.com/never")
	closed, err := localcluster.FreeAddress("")
	if err != nil {
		t.Fatal(err)
	}
	var nobody int
	if _, err := fmt.Sscanf(closed, "127.0.0.1:%d", &nobody); err != nil {
		t.Fatal(err)
	}
	c.publish("closed", "closed", nobody)

	const asker = "system:serviceaccount:" + DefaultNamespace + ":asker"
	both := c.token(DefaultAudience, "https://kubernetes.default.svc")
	plugged := rest.AnonymousClientConfig(c.config)
	plugged.ExecProvider = execPlugin(t, both)
	other := newAuthority(t)
	for _, tc := range []struct {
		name    string
		config  *rest.Config
		opts    []Option
		want    string
		wantErr string
	}{
		{"uses the kubeconfig's token if it is for the server too", c.as(both), nil, asker, ""},
		{"uses the token of the kubeconfig's plugin", plugged, nil, asker, ""},
		{"explains why it withholds a token for the API server alone", c.as(c.token()), nil, "", `the kubeconfig user's token does not state that it is for the audience "workload-resizer.io", so it is not sent` + "\n" + `the credentials of the kubeconfig's user may not be for this server: a token must be for the audience "workload-resizer.io"`},
		{"uses the kubeconfig's certificate if the server trusts its authority", c.config, []Option{WithService(DefaultNamespace, "trusting")}, "testcluster-admin", ""},
		{"uses no certificate if the server does not trust its authority", c.config, nil, "nobody", ""},
		{"requests a token for a ServiceAccount", c.config, []Option{WithServiceAccountToken(DefaultNamespace, "asker")}, asker, ""},
		{"fails with a token for another audience", c.config, []Option{WithServiceAccountToken(DefaultNamespace, "asker"), WithTokenAudience("elsewhere")}, "", "the token is not valid here"},
		{"fails for an unknown ServiceAccount", c.config, []Option{WithServiceAccountToken(DefaultNamespace, "nobody")}, "", "request a token for ServiceAccount workload-resizer-system/nobody"},
		{"prefers a given token to the kubeconfig's", c.as(c.token()), []Option{WithToken(both)}, asker, ""},
		{"rejects two identities", c.config, []Option{WithServiceAccountToken(DefaultNamespace, "asker"), WithToken(both)}, "", "cannot be combined with other tokens"},
		{"rejects a certificate of another authority", c.config, []Option{WithCAPool(other.pool())}, "", "certificate signed by unknown authority"},
		{"rejects a certificate for another name", c.config, []Option{WithServerName("elsewhere.svc")}, "", "not elsewhere.svc"},
		{"sends no credentials in plaintext", c.as(both), []Option{WithService(DefaultNamespace, "open"), WithPlaintext()}, "nobody", ""},
		{"rejects a token in plaintext", c.config, []Option{WithService(DefaultNamespace, "open"), WithPlaintext(), WithToken(both)}, "", "in plaintext"},
		{"rejects impersonation", impersonating(c.config), nil, "", "does not support impersonation"},
		{"connects to a pod that is not ready if no other is", c.config, []Option{WithService(DefaultNamespace, "unready"), WithPlaintext()}, "nobody", ""},
		{"fails if nothing listens in the pod", c.config, []Option{WithService(DefaultNamespace, "closed")}, "", "connection refused"},
		{"fails for a missing Service", c.config, []Option{WithService(DefaultNamespace, "missing")}, "", "no running pod is behind Service workload-resizer-system/missing"},
		{"fails without the right to find the pods", c.as("nonsense"), []Option{WithCAPool(authority.pool())}, "", "find the pods behind Service workload-resizer-system/workload-resizer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := c.who(tc.config, tc.opts...)
			if got != tc.want || (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("called as %q, %v; want %q, %q", got, err, tc.want, tc.wantErr)
			}
		})
	}

	t.Run("replaces a lost connection with one to another pod", func(t *testing.T) {
		server, err := DialCluster(t.Context(), c.config)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = server.Close() }()
		if _, err := server.ListRatios(t.Context()); err != nil {
			t.Fatal(err)
		}
		stop()
		now := int64(0)
		if err := c.api.CoreV1().Pods(DefaultNamespace).Delete(t.Context(), "first", metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
			t.Fatal(err)
		}
		c.serveAt(fmt.Sprintf("127.0.0.1:%d", port), secured(authority.pool()))
		c.publish(DefaultService, "second", port)
		localcluster.Eventually(t, "the server answers again", func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			_, err := server.ListRatios(ctx)
			return err
		})
	})
}

func impersonating(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Impersonate.UserName = "ann"
	return config
}

// execPlugin returns a credential plugin that prints the token.
func execPlugin(t *testing.T, token string) *clientcmdapi.ExecConfig {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plugin")
	script := `#!/bin/sh
echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "` + token + `"}}'
`
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return &clientcmdapi.ExecConfig{
		Command: path, APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
	}
}
