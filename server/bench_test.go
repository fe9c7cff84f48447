package server

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/override"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// remembered is a token as long as those of ServiceAccounts.
var remembered = strings.Repeat("x", 1100)

// BenchmarkGetRatio measures a read through all guards, by a caller whose token and rights
// are cached.
func BenchmarkGetRatio(b *testing.B) { serveRatios(b, nil).benchmark(b) }

// BenchmarkBareEcho measures a call in gRPC alone: no interceptors, and a handler that
// returns its request.
func BenchmarkBareEcho(b *testing.B) { serveEcho(b, nil).benchmark(b) }

// BenchmarkShareOfBareEcho alternates between both, so that other work on the machine affects
// both equally. The share is the median over all turns. cpu-share is the same for the CPU time of
// a call, with that of its client, which depends less on other work.
func BenchmarkShareOfBareEcho(b *testing.B) {
	b.Run("plaintext", func(b *testing.B) { shareOfBareEcho(b, nil) })
	b.Run("TLS", func(b *testing.B) { shareOfBareEcho(b, serverTLS(b)) })
}

// serverTLS returns the configuration of a server with a certificate.
func serverTLS(b *testing.B) *tls.Config {
	certificate, err := localcluster.ServingCertificate(b.TempDir(), "localhost")
	if err != nil {
		b.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(certificate.CertFile, certificate.KeyFile)
	if err != nil {
		b.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}}
}

func shareOfBareEcho(b *testing.B, encryption *tls.Config) {
	const calls = 5000
	ours, bare := serveRatios(b, encryption), serveEcho(b, encryption)
	ours.make(b, calls)
	bare.make(b, calls)
	var took, tookBare time.Duration
	var shares, cpuShares []float64
	for b.Loop() {
		began := podtest.CPUTime(b)
		t := ours.make(b, calls)
		between := podtest.CPUTime(b)
		tBare := bare.make(b, calls)
		took, tookBare, shares = took+t, tookBare+tBare, append(shares, float64(tBare)/float64(t))
		cpuShares = append(cpuShares, float64(podtest.CPUTime(b)-between)/float64(between-began))
	}
	slices.Sort(shares)
	slices.Sort(cpuShares)
	rate := func(t time.Duration) float64 { return calls * float64(len(shares)) / t.Seconds() }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(rate(took), "calls/s")
	b.ReportMetric(rate(tookBare), "bare-calls/s")
	b.ReportMetric(shares[len(shares)/2], "share")
	b.ReportMetric(cpuShares[len(cpuShares)/2], "cpu-share")
}

// calls makes calls of one method, by many callers on a few connections.
type calls struct {
	conns  [4]*grpc.ClientConn
	method string
	token  string
	answer func() proto.Message
}

func serveRatios(b *testing.B, encryption *tls.Config) *calls {
	servertest.Quiet()
	client := kubernetes.NewForConfigOrDie(reviewer(b, func(string) {}))
	r := start(b, setup{server: func(c *Config) {
		c.Limits.CallsPerSecond, c.Limits.CallBurst = 1e9, 1e9
		c.TLS = encryption
		c.Overrides = override.New(client, "a", "overrides")
		c.Access = access.New(access.Config{
			Tokens: client.AuthenticationV1().TokenReviews(), Rights: client.AuthorizationV1().SubjectAccessReviews(), Audiences: []string{audience},
		})
	}})
	return connect(b, &calls{
		method: workloadresizerv1.RatioService_GetRatio_FullMethodName, token: "Bearer " + remembered,
		answer: func() proto.Message { return &workloadresizerv1.GetRatioResponse{} },
	}, r.server.config.GRPC, encryption)
}

// reviewer returns the configuration of an API server that accepts every token and allows
// everything.
func reviewer(b testing.TB, asked func(path string)) *rest.Config {
	known := authenticationv1.TokenReviewStatus{Authenticated: true, Audiences: []string{audience}, User: authenticationv1.UserInfo{Username: "ann"}}
	answers := map[string]any{
		"/apis/authentication.k8s.io/v1/tokenreviews":        &authenticationv1.TokenReview{Status: known},
		"/apis/authorization.k8s.io/v1/subjectaccessreviews": &authorizationv1.SubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: true}},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked(r.URL.Path)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answers[r.URL.Path])
	}))
	b.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

func serveEcho(b *testing.B, encryption *tls.Config) *calls {
	var options []grpc.ServerOption
	if encryption != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(encryption)))
	}
	server := grpc.NewServer(options...)
	server.RegisterService(&grpc.ServiceDesc{ServiceName: "test.Echo", HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{{
		MethodName: "Echo",
		Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			message := new(workloadresizerv1.GetRatioRequest)
			return message, decode(message)
		},
	}}}, nil)
	return connect(b, &calls{method: "/test.Echo/Echo", answer: func() proto.Message { return &workloadresizerv1.GetRatioRequest{} }}, servertest.Serve(b, server), encryption)
}

// connect makes one call on each connection.
func connect(b *testing.B, c *calls, to net.Listener, encryption *tls.Config) *calls {
	b.Helper()
	for i := range c.conns {
		transport := insecure.NewCredentials()
		if encryption != nil {
			transport = credentials.NewTLS(&tls.Config{InsecureSkipVerify: true})
		}
		conn, err := grpc.NewClient(to.Addr().String(), grpc.WithTransportCredentials(transport))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.Close() })
		c.conns[i] = conn
		if err := c.call(b.Context(), c.conns[i]); err != nil {
			b.Fatal(err)
		}
	}
	return c
}

func (c *calls) benchmark(b *testing.B) {
	b.ReportAllocs()
	b.ResetTimer()
	c.make(b, b.N)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

// make makes n calls and returns how long they took.
func (c *calls) make(b *testing.B, n int) time.Duration {
	b.Helper()
	const callers = 64
	var left atomic.Int64
	left.Store(int64(n))
	var calling sync.WaitGroup
	began := time.Now()
	for i := range callers {
		calling.Go(func() {
			for left.Add(-1) >= 0 {
				if err := c.call(b.Context(), c.conns[i%len(c.conns)]); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	calling.Wait()
	return time.Since(began)
}

func (c *calls) call(ctx context.Context, conn *grpc.ClientConn) error {
	if c.token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", c.token)
	}
	return conn.Invoke(ctx, c.method, &workloadresizerv1.GetRatioRequest{NodeType: "n4"}, c.answer())
}
