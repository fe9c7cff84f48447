package client

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"k8s.io/client-go/rest"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// webToken is a JSON Web Token with this payload.
func webToken(payload string) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"RS256"}`)) + "." + encode([]byte(payload)) + "." + encode([]byte("signature"))
}

func TestAudience(t *testing.T) {
	t.Run("what a token says it is for", whatATokenSaysItIsFor)
	t.Run("a token of the kubeconfig goes only to a server that it is for", aTokenOfTheKubeconfigGoesOnlyToAServerThatItIsFor)
}

func whatATokenSaysItIsFor(t *testing.T) {
	for _, tc := range []struct {
		name, token string
		want        []string
		tells       bool
	}{
		{"one audience", webToken(`{"aud":"a"}`), []string{"a"}, true},
		{"several", webToken(`{"aud":["a","b"]}`), []string{"a", "b"}, true},
		{"with padding", "e30.eyJhdWQiOiJhIn0=.c", []string{"a"}, true},
		{"none", webToken(`{"sub":"ann"}`), nil, true},
		{"none in so many words", webToken(`{"aud":null}`), nil, true},
		{"one that is no name", webToken(`{"aud":{"a":"b"}}`), nil, true},
		{"an empty one", webToken(`{"aud":""}`), nil, true},
		{"no web token", "sha256~secret", nil, false},
		{"dots alone", "a.b.c", nil, false},
		{"JSON that is no claims", webToken(`"aud"`), nil, false},
		{"an encrypted web token", webToken(`{"aud":"a"}`) + ".d.e", nil, false},
		{"nothing", "", nil, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, tells := audiencesOf(tc.token); !slices.Equal(got, tc.want) || tells != tc.tells {
				t.Errorf("%q, %v; want %q, %v", got, tells, tc.want, tc.tells)
			}
		})
	}
}

// headers collects the metadata of all calls that reach a server.
type headers struct {
	mu  sync.Mutex
	all []metadata.MD
}

func (*headers) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (*headers) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (*headers) HandleConn(context.Context, stats.ConnStats)                       {}

func (h *headers) HandleRPC(_ context.Context, event stats.RPCStats) {
	if in, ok := event.(*stats.InHeader); ok {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.all = append(h.all, in.Header)
	}
}

// taken returns the authorizations of the calls so far, and forgets them.
func (h *headers) taken() (calls int, tokens []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, md := range h.all {
		tokens = append(tokens, md.Get("authorization")...)
	}
	calls, h.all = len(h.all), nil
	return calls, tokens
}

func aTokenOfTheKubeconfigGoesOnlyToAServerThatItIsFor(t *testing.T) {
	authority, received := newAuthority(t), &headers{}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.StatsHandler(received), grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{authority.server(serverHost)}})))
	workloadresizerv1.RegisterRatioServiceServer(server, ratioServer{list: func(context.Context) (*workloadresizerv1.ListRatiosResponse, error) {
		return &workloadresizerv1.ListRatiosResponse{}, nil
	}})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)

	const kubernetes = "https://kubernetes.default.svc"
	ours, theirs := webToken(`{"aud":["`+DefaultAudience+`"]}`), webToken(`{"aud":["`+kubernetes+`"]}`)
	both, opaque := webToken(`{"aud":["`+kubernetes+`","`+DefaultAudience+`"]}`), "sha256~secret"
	static := func(token string) *rest.Config { return &rest.Config{Host: "https://127.0.0.1:1", BearerToken: token} }
	plugged := &rest.Config{Host: "https://127.0.0.1:1", ExecProvider: execPlugin(t, theirs)}
	file := t.TempDir() + "/token"
	write(t, file, []byte(theirs))
	for _, tc := range []struct {
		name   string
		config *rest.Config
		opts   []Option
		sent   string
		// audience is the one that the refusal names, if there is one.
		audience string
	}{
		{"one that is for the server is sent", static(ours), nil, ours, ""},
		{"one that is for both is sent", static(both), nil, both, ""},
		{"one for the API server is not", static(theirs), nil, "", DefaultAudience},
		{"nor if it is in a file", &rest.Config{Host: "https://127.0.0.1:1", BearerTokenFile: file}, nil, "", DefaultAudience},
		{"nor if it is of a plugin", plugged, nil, "", DefaultAudience},
		{"nor if it names no audience", static(webToken(`{"sub":"ann"}`)), nil, "", DefaultAudience},
		{"one that does not tell is not", static(opaque), nil, "", DefaultAudience},
		{"unless the audience is given", static(opaque), []Option{WithTokenAudience("ours")}, opaque, ""},
		{"an empty audience is not given", static(opaque), []Option{WithTokenAudience("")}, "", ""},
		{"one for the audience that is given is sent", static(theirs), []Option{WithTokenAudience(kubernetes)}, theirs, ""},
		{"one for another is not", static(ours), []Option{WithTokenAudience("ours")}, "", "ours"},
		{"one that is given by itself is sent", static(theirs), []Option{WithToken(opaque)}, opaque, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := optionsOf(append(tc.opts, WithCAPool(authority.pool())))
			if err := o.identityIn(tc.config, nil); err != nil {
				t.Fatal(err)
			}
			c, err := o.dial("passthrough:///"+listener.Addr().String(), serverHost, false)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			_, err = c.ListRatios(t.Context())
			_, streamErr := beginWatch(t.Context(), c)
			calls, tokens := received.taken()
			if tc.sent != "" {
				if want := "Bearer " + tc.sent; err != nil || !slices.Equal(tokens, []string{want, want}) {
					t.Errorf("sent %q, %v", tokens, err)
				}
				return
			}
			want := `for the audience "` + tc.audience
			for _, err := range []error{err, streamErr} {
				if status.Code(err) != codes.Unauthenticated || !strings.Contains(err.Error(), "so it is not sent") || strings.Count(err.Error(), want) != 2 {
					t.Errorf("%v, want the audience %q", err, tc.audience)
				}
			}
			if calls > 0 {
				t.Errorf("%d calls came with %q", calls, tokens)
			}
		})
	}
}

// beginWatch begins a stream, and waits until it ends or says something.
func beginWatch(ctx context.Context, c *Client) (*workloadresizerv1.WatchRatiosResponse, error) {
	stream, err := c.Ratios().WatchRatios(ctx, &workloadresizerv1.WatchRatiosRequest{})
	if err != nil {
		return nil, err
	}
	response, err := stream.Recv()
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	return response, err
}
