package server

import (
	"context"
	"crypto/tls"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/emptypb"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const audience = "workload-resizer.io"

// guarded is a server that authenticates its callers, over TLS, under its own account.
type guarded struct {
	*authority
	*running
	access  *access.Access
	address string
	clock   *testingclock.FakePassiveClock
}

// awaitGrant waits for the effect of granted rights. The clock stands still otherwise, and
// denials are cached for up to five seconds.
func (g *guarded) awaitGrant(t *testing.T, what string, check func() error) {
	t.Helper()
	localcluster.Eventually(t, what, func() error {
		g.clock.SetTime(g.clock.Now().Add(6 * time.Second))
		return check()
	})
}

// guard starts one on a control plane of its own. The server may not read its holds, so it is
// never ready: calls that are allowed fail for that or another reason.
func guard(t *testing.T) *guarded {
	t.Helper()
	g := unserved(t)
	g.serve(t, g.own(), func(c *Config) { c.Channelz, c.MetricsAccess = true, g.access })
	return g
}

// unserved starts the control plane, without a server.
func unserved(t *testing.T) *guarded {
	t.Helper()
	cluster := localcluster.ForTest(t, "")
	if err := localcluster.Apply(t.Context(), cluster.Config(), deploy.Base()...); err != nil {
		t.Fatal(err)
	}
	return &guarded{
		authority: &authority{cluster, kubernetes.NewForConfigOrDie(cluster.Config())},
		clock:     testingclock.NewFakePassiveClock(time.Now()),
	}
}

// own returns the configuration of the server's account.
func (g *guarded) own() *rest.Config {
	own := g.cluster.Config()
	own.Impersonate.UserName = "system:serviceaccount:" + deploy.Namespace + ":" + deploy.ServiceAccount
	return own
}

// serve starts the server. It reviews callers under its own account, and reads the cluster
// with the given configuration.
func (g *guarded) serve(t *testing.T, cluster *rest.Config, more func(*Config)) {
	t.Helper()
	reviews := kubernetes.NewForConfigOrDie(g.own())
	g.access = access.New(access.Config{
		Tokens: reviews.AuthenticationV1().TokenReviews(), Rights: reviews.AuthorizationV1().SubjectAccessReviews(),
		Audiences: []string{audience}, Clock: g.clock,
	})
	g.running = start(t, setup{cluster: cluster, askEvery: 100 * time.Millisecond, server: func(c *Config) {
		more(c)
		c.Access, c.Limits = g.access, limits.Limits{}
		c.TLS = &tls.Config{
			Certificates: []tls.Certificate{g.certificate(t, false, pkix.Name{CommonName: "server"})},
			ClientCAs:    g.roots(t), ClientAuth: tls.VerifyClientCertIfGiven,
		}
	}})
	_, port, err := net.SplitHostPort(g.server.config.GRPC.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	g.address = "localhost:" + port
}

// dial connects, with a client certificate if one is given.
func (g *guarded) dial(t *testing.T, certificates ...tls.Certificate) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(g.address, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: g.roots(t), Certificates: certificates})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func bearing(ctx context.Context, token string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}

// call makes an empty request, and returns the error of the first response. The error is nil
// if the response is a message or the end of a stream.
func call(ctx context.Context, conn *grpc.ClientConn, method string, stream bool) error {
	return callWith(ctx, conn, method, stream, &emptypb.Empty{})
}

// callWith is call with a request.
func callWith(ctx context.Context, conn *grpc.ClientConn, method string, stream bool, request proto.Message) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !stream {
		return conn.Invoke(ctx, method, request, &emptypb.Empty{})
	}
	s, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return err
	}
	if err := s.SendMsg(request); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := s.CloseSend(); err != nil {
		return err
	}
	if err := s.RecvMsg(&emptypb.Empty{}); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func reasonOf(err error) string {
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}

// refusal returns why the caller is refused, "" if it is not. A caller that is not refused
// gets the result of the service, even if that is that the request is invalid or that the
// service is not ready.
func refusal(err error) string {
	code, reason := status.Code(err), servertest.ReasonOf(err)
	if code == codes.Unauthenticated || code == codes.PermissionDenied || reason == "IDENTITY_NOT_READY" {
		return code.String() + " " + reason
	}
	return ""
}

const (
	anybody = iota
	viewer
	editor
	admin
	agent
)

// forAgents are the methods that the role of node agents may call, besides those for anybody.
var forAgents = map[string]bool{
	workloadresizerv1.BenchmarkService_IngestSamples_FullMethodName:    true,
	workloadresizerv1.BenchmarkService_ClaimMeasurement_FullMethodName: true,
}

// leastRole is the least privileged role that may make an empty request. It is maintained
// separately from the table of the server.
var leastRole = map[string]int{
	"/workloadresizer.v1.RatioService/ListRatios":     viewer,
	"/workloadresizer.v1.RatioService/GetRatio":       viewer,
	"/workloadresizer.v1.RatioService/ListRatioRules": viewer,
	"/workloadresizer.v1.RatioService/WatchRatios":    viewer,

	"/workloadresizer.v1.OverrideService/ListOverrides":        viewer,
	"/workloadresizer.v1.OverrideService/GetOverride":          viewer,
	"/workloadresizer.v1.OverrideService/ListOverrideChanges":  viewer,
	"/workloadresizer.v1.OverrideService/UpdateOverride":       editor,
	"/workloadresizer.v1.OverrideService/BatchUpdateOverrides": editor,
	"/workloadresizer.v1.OverrideService/DeleteOverride":       editor,
	"/workloadresizer.v1.OverrideService/RollbackOverrides":    editor,

	"/workloadresizer.v1.PlanService/PreviewPod":      viewer,
	"/workloadresizer.v1.PlanService/PreviewPlans":    viewer,
	"/workloadresizer.v1.PlanService/PreviewManifest": viewer,

	"/workloadresizer.v1.ResizeService/ListResizes": viewer,
	"/workloadresizer.v1.ResizeService/GetResize":   viewer,

	"/workloadresizer.v1.ExplainService/ExplainPod": viewer,

	"/workloadresizer.v1.ClusterService/ListWorkloads": viewer,
	"/workloadresizer.v1.ClusterService/ListNodes":     viewer,

	"/workloadresizer.v1.ResizeService/WatchResizes": viewer,

	"/workloadresizer.v1.JournalService/ListEntries":  viewer,
	"/workloadresizer.v1.JournalService/WatchEntries": viewer,

	"/workloadresizer.v1.StatusService/GetStatus": viewer,

	"/workloadresizer.v1.HoldService/Pause":     editor,
	"/workloadresizer.v1.HoldService/Restore":   admin,
	"/workloadresizer.v1.HoldService/Resume":    editor, // Unless a restore would end.
	"/workloadresizer.v1.HoldService/ListHolds": viewer,
	"/workloadresizer.v1.HoldService/GetHold":   viewer,
	"/workloadresizer.v1.HoldService/GetFreeze": viewer,
	"/workloadresizer.v1.HoldService/Freeze":    admin,
	"/workloadresizer.v1.HoldService/Unfreeze":  admin,

	"/workloadresizer.v1.BenchmarkService/IngestSamples":    editor,
	"/workloadresizer.v1.BenchmarkService/ClaimMeasurement": editor,
	"/workloadresizer.v1.BenchmarkService/ListBenchmarks":   viewer,
	"/workloadresizer.v1.BenchmarkService/ListFeeds":        viewer,
	"/workloadresizer.v1.BenchmarkService/GetSuggestion":    viewer,
	"/workloadresizer.v1.BenchmarkService/ListSuggestions":  viewer,

	"/workloadresizer.v1.UsageService/ListRecommendations":  viewer,
	"/workloadresizer.v1.UsageService/GetRecommendation":    viewer,
	"/workloadresizer.v1.UsageService/WatchRecommendations": viewer,
	"/workloadresizer.v1.UsageService/ListSavings":          viewer,
	"/workloadresizer.v1.UsageService/GetUsageHistory":      viewer,
	"/workloadresizer.v1.UsageService/GetUsageStatus":       viewer,
	"/workloadresizer.v1.UsageService/ReportUsage":          editor,

	"/grpc.health.v1.Health/Check": anybody,
	"/grpc.health.v1.Health/List":  anybody,
	"/grpc.health.v1.Health/Watch": anybody,

	"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo":      viewer,
	"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": viewer,
	"/grpc.channelz.v1.Channelz/GetTopChannels":                      admin,
	"/grpc.channelz.v1.Channelz/GetServers":                          admin,
	"/grpc.channelz.v1.Channelz/GetServer":                           admin,
	"/grpc.channelz.v1.Channelz/GetServerSockets":                    admin,
	"/grpc.channelz.v1.Channelz/GetChannel":                          admin,
	"/grpc.channelz.v1.Channelz/GetSubchannel":                       admin,
	"/grpc.channelz.v1.Channelz/GetSocket":                           admin,
}

func TestAccess(t *testing.T) {
	g := guard(t)
	g.account(t, "nobody")
	for _, role := range []string{"viewer", "editor", "admin"} {
		g.account(t, role)
		g.grant(t, serviceAccount(role), "workload-resizer-"+role, "")
	}
	t.Run("the table lists every method and nothing else", g.testTable)
	t.Run("every method allows the right callers", g.testEveryMethod)
	t.Run("every method allows callers with a role in a namespace only there", g.testEveryMethodInNamespaces)
	t.Run("a client certificate names the user and the groups", g.testCertificates)
	t.Run("a role in a namespace applies to that namespace", g.testNamespaces)
	t.Run("resume needs the right to end each kind of hold", g.testResume)
	t.Run("a granted right takes effect within a second, a revoked one within ten", g.testRevocation)
	t.Run("a revoked token is accepted for up to ten seconds", g.testRevokedToken)
	t.Run("a watch ends when its right is revoked", g.testWatchEnds)
	t.Run("rights in a namespace are checked again", g.testStillAllowed)
	t.Run("a caller sees the pods that it may get", g.testView)
	t.Run("tokens of one account have different credentials", g.testCredentials)
	t.Run("errors do not reveal what is in a namespace that the caller cannot see", g.testInvisible)
	t.Run("the log has the caller's name and credential, and never the token", g.testLog)
	t.Run("metrics can require the right to get their path", g.testMetrics)
}

func (g *guarded) testTable(t *testing.T) {
	registered := serverMethods(g.server)
	for name := range registered {
		if _, ok := access.Methods()[name]; !ok {
			t.Errorf("%s is not in the table, so every call is denied", name)
		}
		if _, ok := leastRole[name]; !ok {
			t.Errorf("%s has no role in this test", name)
		}
	}
	for name := range access.Methods() {
		if _, ok := registered[name]; !ok && name != access.Pprof && name != access.Metrics {
			t.Errorf("%s is in the table, but is not a method of the server", name)
		}
	}
}

func (g *guarded) testEveryMethod(t *testing.T) {
	g.account(t, "agent")
	g.grant(t, serviceAccount("agent"), "workload-resizer-agent", "")
	type caller struct {
		name, token string
		role        int
		refused     string
	}
	callers := []caller{
		{"no credentials", "", anybody, "Unauthenticated CREDENTIALS_MISSING"},
		{"an invalid token", "nonsense", anybody, "Unauthenticated CREDENTIALS_INVALID"},
		{"the wrong audience", g.token(t, "admin", "another.example"), anybody, "Unauthenticated CREDENTIALS_INVALID"},
		{"the audience of the API server", g.token(t, "admin", "https://kubernetes.default.svc"), anybody, "Unauthenticated CREDENTIALS_INVALID"},
		{"an expired token", g.sign(t, "admin", audience, time.Now().Add(-time.Hour)), anybody, "Unauthenticated CREDENTIALS_INVALID"},
		{"a token that the test signed", g.sign(t, "admin", audience, time.Now().Add(time.Hour)), admin, ""},
		{"no rights", g.token(t, "nobody", audience), anybody, "PermissionDenied NOT_AUTHORIZED"},
		{"viewer", g.token(t, "viewer", audience), viewer, "PermissionDenied NOT_AUTHORIZED"},
		{"editor", g.token(t, "editor", audience), editor, "PermissionDenied NOT_AUTHORIZED"},
		{"admin", g.token(t, "admin", audience), admin, "PermissionDenied NOT_AUTHORIZED"},
		{"agent", g.token(t, "agent", audience), agent, "PermissionDenied NOT_AUTHORIZED"},
	}
	conn := g.dial(t)
	// The API server takes a moment to learn about new roles.
	g.awaitGrant(t, "the roles", func() error {
		for _, c := range callers {
			method := workloadresizerv1.RatioService_ListRatios_FullMethodName
			switch c.role {
			case anybody:
				continue
			case agent:
				method = workloadresizerv1.BenchmarkService_IngestSamples_FullMethodName
			}
			if err := call(bearing(t.Context(), c.token), conn, method, false); refusal(err) != "" {
				return err
			}
		}
		return nil
	})
	for _, c := range callers {
		t.Run(c.name, func(t *testing.T) {
			ctx := t.Context()
			if c.token != "" {
				ctx = bearing(ctx, c.token)
			}
			for method, info := range serverMethods(g.server) {
				want := c.refused
				if c.role >= leastRole[method] && c.role != agent || c.role == agent && (forAgents[method] || leastRole[method] == anybody) {
					want = ""
				}
				if err := call(ctx, conn, method, info.IsServerStream); refusal(err) != want {
					t.Errorf("%s: %v, want %q", method, err, want)
				}
			}
		})
	}
}

// testEveryMethodInNamespaces calls each method with the rights of one namespace, for that
// namespace, for another one, and for all.
func (g *guarded) testEveryMethodInNamespaces(t *testing.T) {
	g.namespace(t, "team")
	conn := g.dial(t)
	roles := map[string]int{"viewer": viewer, "editor": editor, "admin": admin}
	contexts := map[string]context.Context{}
	for name := range roles {
		g.account(t, "team-"+name)
		g.grant(t, serviceAccount("team-"+name), "workload-resizer-"+name, "team")
		g.grant(t, serviceAccount("team-"+name), "view", "team") // They see the pods, too.
		contexts[name] = bearing(t.Context(), g.token(t, "team-"+name, audience))
	}
	g.awaitGrant(t, "the roles", func() error {
		for _, ctx := range contexts {
			const method = workloadresizerv1.PlanService_PreviewPod_FullMethodName
			if err := callWith(ctx, conn, method, false, naming(t, method, "team")); refusal(err) != "" {
				return err
			}
		}
		return nil
	})
	named := 0
	for name, role := range roles {
		for method, info := range serverMethods(g.server) {
			for _, namespace := range []string{"team", "default", ""} {
				request := naming(t, method, namespace)
				if request == nil {
					if namespace != "" {
						continue // It names no namespace.
					}
					request = &emptypb.Empty{}
				}
				want := "PermissionDenied NOT_AUTHORIZED"
				if leastRole[method] == anybody || namespace == "team" && access.Methods()[method].Namespaced && role >= leastRole[method] {
					want = ""
					named++
				}
				if err := callWith(contexts[name], conn, method, info.IsServerStream, request); refusal(err) != want {
					t.Errorf("the %s of a namespace calls %s for %q: %v, want %q", name, method, namespace, err, want)
				}
			}
		}
	}
	if named < 20 {
		t.Errorf("only %d calls are allowed", named)
	}
}

// naming returns a request of a method of the API that names a namespace; nil if it has no
// field for that.
func naming(t *testing.T, method, namespace string) proto.Message {
	t.Helper()
	service, name, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service + "." + name))
	if err != nil {
		t.Fatal(err)
	}
	typ, err := protoregistry.GlobalTypes.FindMessageByName(found.(protoreflect.MethodDescriptor).Input().FullName())
	if err != nil {
		t.Fatal(err)
	}
	request := typ.New()
	of := request
	if scope := of.Descriptor().Fields().ByName("scope"); scope != nil {
		of = of.Mutable(scope).Message()
	}
	field := of.Descriptor().Fields().ByName("namespace")
	if field == nil {
		return nil
	}
	if namespace != "" {
		of.Set(field, protoreflect.ValueOfString(namespace))
	}
	return request.Interface()
}

func (g *guarded) testCertificates(t *testing.T) {
	g.grant(t, rbacv1.Subject{Kind: "Group", APIGroup: rbacv1.GroupName, Name: "sizers"}, "workload-resizer-viewer", "")
	carol := g.dial(t, g.certificate(t, false, pkix.Name{CommonName: "carol", Organization: []string{"sizers"}}))
	list := func(ctx context.Context, conn *grpc.ClientConn) error {
		return call(ctx, conn, workloadresizerv1.RatioService_ListRatios_FullMethodName, false)
	}
	g.awaitGrant(t, "the role", func() error {
		if err := list(t.Context(), carol); refusal(err) != "" {
			return err
		}
		return nil
	})
	if err := list(bearing(t.Context(), "nonsense"), carol); refusal(err) != "" {
		t.Errorf("a certificate does not take precedence over a token: %v", err)
	}
	dave := g.dial(t, g.certificate(t, false, pkix.Name{CommonName: "dave"}))
	servertest.CheckError(t, list(t.Context(), dave), codes.PermissionDenied, "NOT_AUTHORIZED",
		`user "dave" cannot list ratios.workload-resizer.io in all namespaces; a ClusterRoleBinding to the ClusterRole workload-resizer-viewer allows it`)
	unnamed := g.dial(t, g.certificate(t, false, pkix.Name{Organization: []string{"sizers"}}))
	servertest.CheckError(t, list(t.Context(), unnamed), codes.Unauthenticated, "CREDENTIALS_INVALID", "no common name")
	// A client does not send a certificate that the server does not ask for unless it is
	// forced to.
	stranger := g.certificate(t, true, pkix.Name{CommonName: "carol", Organization: []string{"sizers"}})
	conn, err := grpc.NewClient(g.address, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
		RootCAs: g.roots(t), GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &stranger, nil },
	})))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := list(t.Context(), conn); status.Code(err) != codes.Unavailable || servertest.ReasonOf(err) != "" {
		t.Errorf("a certificate of another authority: %v", err)
	}

	now := g.clock.Now()
	g.clock.SetTime(now.Add(2 * time.Hour))
	servertest.CheckError(t, list(t.Context(), carol), codes.Unauthenticated, "CREDENTIALS_INVALID", "expired")
	g.clock.SetTime(now)
}

func (g *guarded) testNamespaces(t *testing.T) {
	g.namespace(t, "blue")
	g.account(t, "blue-admin")
	g.grant(t, serviceAccount("blue-admin"), "workload-resizer-admin", "blue")
	g.grant(t, serviceAccount("blue-admin"), "view", "blue")
	ctx, conn := bearing(t.Context(), g.token(t, "blue-admin", audience)), g.dial(t)
	plans, holds := workloadresizerv1.NewPlanServiceClient(conn), workloadresizerv1.NewHoldServiceClient(conn)
	preview := func(namespace string) error {
		_, err := plans.PreviewPod(ctx, &workloadresizerv1.PreviewPodRequest{Namespace: namespace, Pod: "p"})
		return err
	}
	previews := func(namespace string) error {
		stream, err := plans.PreviewPlans(ctx, &workloadresizerv1.PreviewPlansRequest{Namespace: namespace})
		if err == nil {
			_, err = stream.Recv()
		}
		return err
	}
	pause := func(scope *workloadresizerv1.HoldScope) error {
		_, err := holds.Pause(ctx, &workloadresizerv1.PauseRequest{Scope: scope, ValidateOnly: true})
		return err
	}
	g.awaitGrant(t, "the role", func() error {
		if err := preview("blue"); refusal(err) != "" {
			return err
		}
		return nil
	})
	for name, try := range map[string]struct {
		err     error
		allowed bool
		message string
	}{
		"plans of the namespace":          {previews("blue"), true, ""},
		"a plan of another namespace":     {preview("default"), false, `cannot get plans.workload-resizer.io in namespace "default"; a RoleBinding in that namespace to the ClusterRole workload-resizer-viewer`},
		"plans of another namespace":      {previews("default"), false, `cannot list plans.workload-resizer.io in namespace "default"`},
		"plans of all namespaces":         {previews(""), false, `cannot list plans.workload-resizer.io in all namespaces`},
		"a pause of the namespace":        {pause(namespaceScope("blue")), true, ""},
		"a pause of a pod in it":          {pause(podScope("blue", "p")), true, ""},
		"a pause of a workload in it":     {pause(workloadScope("blue", "Deployment", "d")), true, ""},
		"a pause of another namespace":    {pause(namespaceScope("default")), false, `cannot create pauses.workload-resizer.io in namespace "default"`},
		"a pause of a pod elsewhere":      {pause(podScope("default", "p")), false, `cannot create pauses.workload-resizer.io in namespace "default"`},
		"a pause of a workload elsewhere": {pause(workloadScope("default", "Deployment", "d")), false, `cannot create pauses.workload-resizer.io in namespace "default"`},
		"a pause of the cluster":          {pause(everything), false, `in all namespaces`},
		"a pause of no pod":               {pause(podScope("", "p")), false, `in all namespaces`},
		"a pause without a scope":         {pause(nil), false, `in all namespaces`},
		"a pause of an empty scope":       {pause(&workloadresizerv1.HoldScope{}), false, `in all namespaces`},
	} {
		t.Run(name, func(t *testing.T) {
			if try.allowed && refusal(try.err) != "" {
				t.Error(try.err)
			}
			if !try.allowed {
				servertest.CheckError(t, try.err, codes.PermissionDenied, "NOT_AUTHORIZED", `user "system:serviceaccount:default:blue-admin" cannot `)
				if !strings.Contains(try.err.Error(), try.message) {
					t.Errorf("got %v, want %s", try.err, try.message)
				}
			}
		})
	}
}

func (g *guarded) testResume(t *testing.T) {
	holds := workloadresizerv1.NewHoldServiceClient(g.dial(t))
	const unknown = workloadresizerv1.HoldKind(7)
	for kind, role := range map[workloadresizerv1.HoldKind]int{
		workloadresizerv1.HoldKind_HOLD_KIND_PAUSE:       editor,
		workloadresizerv1.HoldKind_HOLD_KIND_BREAKER:     editor,
		workloadresizerv1.HoldKind_HOLD_KIND_RESTORE:     admin,
		workloadresizerv1.HoldKind_HOLD_KIND_UNSPECIFIED: editor, // No restore would end.
		unknown: admin,
	} {
		for i, account := range []string{"nobody", "viewer", "editor", "admin"} {
			_, err := holds.Resume(bearing(t.Context(), g.token(t, account, audience)), &workloadresizerv1.ResumeRequest{Scope: everything, Kind: kind, ValidateOnly: true})
			want := "PermissionDenied NOT_AUTHORIZED"
			if i >= role {
				want = ""
			}
			if refusal(err) != want {
				t.Errorf("%s of %v: %v, want %q", account, kind, err, want)
			}
		}
	}
}

func (g *guarded) testRevocation(t *testing.T) {
	g.account(t, "guest")
	conn, token := g.dial(t), g.token(t, "guest", audience)
	list := func() string {
		return refusal(call(bearing(t.Context(), token), conn, workloadresizerv1.RatioService_ListRatios_FullMethodName, false))
	}
	const denied = "PermissionDenied NOT_AUTHORIZED"
	if got := list(); got != denied {
		t.Fatalf("before: %q", got)
	}
	revoke := g.grant(t, serviceAccount("guest"), "workload-resizer-viewer", "")
	// The clock stands still, so that only results that are no longer cached can change.
	if got := list(); got != denied {
		t.Errorf("a cached denial: %q", got)
	}
	localcluster.Eventually(t, "the right", func() error {
		g.clock.SetTime(g.clock.Now().Add(1001 * time.Millisecond))
		if got := list(); got != "" {
			return errors.New(got)
		}
		return nil
	})
	revoke()
	now := g.clock.Now()
	g.clock.SetTime(now.Add(10 * time.Second))
	if got := list(); got != "" {
		t.Errorf("a cached right: %q", got)
	}
	g.clock.SetTime(now.Add(11 * time.Second))
	localcluster.Eventually(t, "the right to be revoked", func() error {
		if got := list(); got != denied {
			g.clock.SetTime(g.clock.Now().Add(11 * time.Second)) // The API server was slower.
			return fmt.Errorf("got %q", got)
		}
		return nil
	})
}

func (g *guarded) testRevokedToken(t *testing.T) {
	g.account(t, "leaver")
	conn, token := g.dial(t), g.token(t, "leaver", audience)
	list := func() string {
		return refusal(call(bearing(t.Context(), token), conn, workloadresizerv1.RatioService_ListRatios_FullMethodName, false))
	}
	const denied, unknown = "PermissionDenied NOT_AUTHORIZED", "Unauthenticated CREDENTIALS_INVALID"
	if got := list(); got != denied {
		t.Fatalf("before: %q", got)
	}
	if err := g.client.CoreV1().ServiceAccounts("default").Delete(t.Context(), "leaver", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := list(); got != denied {
		t.Errorf("a cached token: %q", got)
	}
	localcluster.Eventually(t, "the token to be refused", func() error {
		g.clock.SetTime(g.clock.Now().Add(11 * time.Second)) // The API server caches tokens, too.
		if got := list(); got != unknown {
			return fmt.Errorf("got %q", got)
		}
		return nil
	})
}

func (g *guarded) testView(t *testing.T) {
	g.namespace(t, "green")
	user := func(name string) rbacv1.Subject {
		return rbacv1.Subject{Kind: "User", APIGroup: rbacv1.GroupName, Name: name}
	}
	g.grant(t, user("ann"), "view", "green")
	g.grant(t, user("bob"), "view", "")
	for name, want := range map[string]map[string]bool{
		"ann": {"green": true, "default": false, "": false},
		"bob": {"green": true, "default": true, "": true},
		"eve": {"green": false, "default": false},
		"":    {"green": false, "default": false},
	} {
		t.Run("user "+name, func(t *testing.T) {
			g.awaitGrant(t, "the view", func() error {
				view := g.access.View(access.NewContext(t.Context(), access.Caller{Name: name}))
				for namespace, sees := range want {
					if got, err := view.Sees(namespace); err != nil || got != sees {
						return fmt.Errorf("namespace %q: %v, %w", namespace, got, err)
					}
				}
				return nil
			})
		})
	}
	t.Run("a local caller sees everything", func(t *testing.T) {
		if sees, err := g.access.View(access.NewContext(t.Context(), access.Caller{Local: true})).Sees("green"); err != nil || !sees {
			t.Errorf("%v, %v", sees, err)
		}
	})
	t.Run("a view asks each question once", func(t *testing.T) {
		ctx, cancel := context.WithCancel(access.NewContext(t.Context(), access.Caller{Name: "eve"}))
		view := g.access.View(ctx)
		if _, err := view.Sees("green"); err != nil {
			t.Fatal(err)
		}
		cancel() // The API server can no longer be asked.
		if sees, err := view.Sees("green"); err != nil || sees {
			t.Errorf("%v, %v", sees, err)
		}
		if _, err := view.Sees("kube-system"); status.Code(err) != codes.Canceled {
			t.Errorf("got %v", err)
		}
	})
}

func (g *guarded) testLog(t *testing.T) {
	token := g.token(t, "viewer", audience)
	logger := ktesting.NewLogger(ktesting.NopTL{}, ktesting.NewConfig(ktesting.Verbosity(1), ktesting.BufferLogs(true)))
	ctx := peer.NewContext(klog.NewContext(t.Context(), logger), &peer.Peer{Addr: &net.UnixAddr{Name: "a"}})
	ctx = metadata.NewIncomingContext(ctx, metadata.Pairs("authorization", "Bearer "+token))
	denied := status.Error(codes.NotFound, "no such thing")
	unary := &grpc.UnaryServerInfo{FullMethod: "/a/Unary"}
	_, err := logUnary(ctx, nil, unary, func(ctx context.Context, request any) (any, error) {
		return g.access.AuthenticateUnary(ctx, request, unary, func(context.Context, any) (any, error) { return nil, denied })
	})
	if !errors.Is(err, denied) {
		t.Errorf("got %v", err)
	}
	stream := &grpc.StreamServerInfo{FullMethod: "/a/Stream"}
	if err := logStream(nil, &loggedStream{nil, ctx}, stream, func(service any, s grpc.ServerStream) error {
		return g.access.AuthenticateStream(service, s, stream, func(any, grpc.ServerStream) error { return nil })
	}); err != nil {
		t.Error(err)
	}
	log := logger.GetSink().(ktesting.Underlier).GetBuffer().String()
	for _, want := range []string{
		`Call ended method="/a/Unary" caller="system:serviceaccount:default:viewer" code="NotFound"`, ` credential="JTI=`, `no such thing`,
		`Call ended method="/a/Stream" caller="system:serviceaccount:default:viewer" code="OK"`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not contain %s:\n%s", want, log)
		}
	}
	if strings.Contains(log, token) {
		t.Error("the log contains the token")
	}
}

func (g *guarded) namespace(t *testing.T, name string) {
	t.Helper()
	if _, err := g.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (g *guarded) testMetrics(t *testing.T) {
	g.account(t, "prometheus")
	revoke := g.grant(t, serviceAccount("prometheus"), "workload-resizer-metrics", "")
	scrape := func(authorization string) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.http+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		if authorization != "" {
			request.Header.Set("Authorization", authorization)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	allowed := "Bearer " + g.token(t, "prometheus", audience)
	// All that unauthenticated callers learn.
	const expected = `send the header "Authorization: Bearer TOKEN", with a token for the audience ` + audience + ` of a user with the right to get /metrics` + "\n"
	for _, tc := range []struct {
		name, authorization string
		status              int
		says                string
	}{
		{"with the right", allowed, http.StatusOK, "\nworkload_resizer_holds_healthy "},
		{"without credentials, even on this machine", "", http.StatusUnauthorized, expected},
		{"with a password", "Basic YTpi", http.StatusUnauthorized, expected},
		{"with a token for the API server", "Bearer " + g.token(t, "prometheus", "https://kubernetes.default.svc"), http.StatusUnauthorized, expected},
		{"without the right", "Bearer " + g.token(t, "viewer", audience), http.StatusForbidden, `cannot get /metrics; a ClusterRoleBinding to the ClusterRole workload-resizer-metrics allows it`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, body := scrape(tc.authorization)
			if status == http.StatusUnauthorized && body != expected {
				t.Errorf("an unauthenticated caller learns %q", body)
			}
			if status != tc.status || !strings.Contains(body, tc.says) || status != http.StatusOK && strings.Contains(body, "workload_resizer_") {
				t.Errorf("status %d: %s", status, body)
			}
		})
	}
	t.Run("probes need no right", func(t *testing.T) {
		if code, body := g.get(t, "/livez"); code != http.StatusOK {
			t.Errorf("/livez returns %d %s", code, body)
		}
	})
	t.Run("after the right is revoked", func(t *testing.T) {
		revoke()
		localcluster.Eventually(t, "the revocation", func() error {
			g.clock.SetTime(g.clock.Now().Add(time.Minute))
			if status, body := scrape(allowed); status != http.StatusForbidden {
				return fmt.Errorf("status %d: %s", status, body)
			}
			return nil
		})
	})
}
