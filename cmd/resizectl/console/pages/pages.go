package pages

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/console/feed"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/console/live"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

//go:embed assets templates
var files embed.FS

// Server answers the questions of the pages.
type Server interface {
	// Ask runs ask with a client, and explains its error to users.
	Ask(ctx context.Context, ask func(context.Context, *client.Client) error) error
	Identity() connect.Identity
}

// Pages are the pages of one server.
type Pages struct {
	server Server
	out    *print.Output
	feeds  *feed.Feeds
	live   *live.Streams
	mux    *http.ServeMux
}

// page is a subject.
type page struct {
	// pattern is the path, as in http.ServeMux, and nav its name in the navigation; empty if it has none.
	pattern, nav string
	template     string
	// title returns the title of the page of a request.
	title func(*http.Request) string
	// key names what is read, and read reads it. Requests with the same key share what is read.
	key  func(*http.Request) string
	read func(context.Context, *client.Client, *http.Request) (any, error)
	// then goes on with what was read, for which the server has as long again; nil if that is all.
	then func(context.Context, *client.Client, any) error
	// view returns what the template shows of that.
	view func(*print.Output, any, *http.Request) any
	// once means that it is read for each request, until the browser gives up, and does not change then.
	once bool
	// refused returns what there is to view if it could not be read, and why: what people have filled in must stay. Without it, the page
	// says only why.
	refused func(problem string) any
	// narrow returns the address of what a caller may see who has no right to all that was asked for; empty if there is none, and nil if
	// there never is.
	narrow func(*http.Request, any) string
}

// subjects are the pages, those of the navigation in its order.
var subjects = []page{overviewPage, workloadsPage, nodesPage, plansPage, historyPage, setupPage, workloadPage, podPage, nodePage, searchPage}

// templates are the templates by name. Those of the parts that pages share are in all of them.
var templates = func() map[string]*template.Template {
	shared := template.Must(template.ParseFS(files, "templates/layout.html", "templates/parts.html"))
	all := map[string]*template.Template{}
	for _, p := range append([]page{{template: "missing"}}, subjects...) {
		all[p.template] = template.Must(template.Must(shared.Clone()).ParseFS(files, "templates/"+p.template+".html"))
	}
	return all
}()

// New returns the pages of a server. They read from it until ctx ends. out has the time and the commands as users write them.
func New(ctx context.Context, server Server, out print.Output) *Pages {
	never := print.ColorMode("never")
	out.Color = &never
	p := &Pages{server: server, out: &out, feeds: feed.New(ctx, connect.PauseWhileSeen), live: live.New(ctx), mux: http.NewServeMux()}
	p.register()
	return p
}

// register adds the handlers of all pages.
func (p *Pages) register() {
	for _, s := range subjects {
		p.mux.HandleFunc("GET "+s.pattern, func(w http.ResponseWriter, r *http.Request) { p.show(w, r, s) })
		if s.once {
			continue
		}
		p.mux.HandleFunc("GET /live"+s.pattern, func(w http.ResponseWriter, r *http.Request) { p.follow(w, r, s) })
	}
	assets, err := fs.Sub(files, "assets")
	if err != nil {
		panic(err) // They are embedded.
	}
	p.mux.Handle("GET /assets/", http.StripPrefix("/assets/", http.FileServerFS(assets)))
	p.mux.HandleFunc("GET /icon.svg", p.icon)
	p.mux.HandleFunc("GET /live/", p.beat)
	p.mux.HandleFunc("GET /", p.missing)
}

// ServeHTTP implements http.Handler.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.mux.ServeHTTP(w, r) }

// Has reports whether there is a page at an address, which begins with a slash.
func Has(address string) bool {
	u, err := url.ParseRequestURI(address)
	if err != nil || u.Host != "" || u.Scheme != "" {
		return false
	}
	mux := http.NewServeMux()
	for _, s := range subjects {
		mux.HandleFunc("GET "+s.pattern, http.NotFound)
	}
	_, pattern := mux.Handler(&http.Request{Method: http.MethodGet, URL: u})
	return pattern != ""
}

// Navigation returns the addresses of the pages that the navigation leads to, in its order.
func Navigation() (paths []string) {
	for _, s := range subjects {
		if s.nav != "" {
			paths = append(paths, s.path())
		}
	}
	return paths
}

// path returns the address of a page whose pattern has no wildcards.
func (s *page) path() string { return strings.TrimSuffix(s.pattern, "{$}") }

// layout is what the template of a whole page shows.
type layout struct {
	connect.Identity
	Title string
	// Live is the address of the changes, and Proof what each of them must have. With Once, nothing changes: the stream says only
	// that the process runs.
	Live, Proof string
	Once        bool
	// Sought is what the page has searched for.
	Sought string
	Nav    []link
	Region region
}

// link is a link of the navigation.
type link struct {
	Name, Path string
	Current    bool
}

// region is the part of a page that changes.
type region struct {
	Title string
	// Link is the command that opens this page.
	Link string
	// Stale is when the page became stale; zero if it is not.
	Stale time.Time
	// Problem is why it is, or why there is nothing to show.
	Problem string
	// Unread reports whether nothing was read yet, but may be soon, and View says why.
	Unread bool
	View   any
}

// firstAnswer is how long a browser waits for the server before it gets a page without its answer, which follows.
const firstAnswer = 5 * time.Second

// show answers with a whole page.
func (p *Pages) show(w http.ResponseWriter, r *http.Request, s page) {
	if s.once {
		value, err := p.ask(r.Context(), r, s)
		l := p.layout(r, p.region(r, s, feed.State{Value: value, Err: err}))
		l.Once = true
		p.write(w, http.StatusOK, s.template, l)
		return
	}
	watch := p.watch(r, s)
	defer watch.Close()
	ctx, cancel := context.WithTimeout(r.Context(), firstAnswer)
	defer cancel()
	state, err := watch.Next(ctx)
	if err != nil {
		state = feed.State{} // The page says that it waits.
	}
	if s.narrow != nil && state.Value != nil {
		if to := s.narrow(r, state.Value); to != "" {
			http.Redirect(w, r, to, http.StatusSeeOther)
			return
		}
	}
	p.write(w, http.StatusOK, s.template, p.layout(r, p.region(r, s, state)))
}

func (p *Pages) layout(r *http.Request, region region) layout {
	l := layout{Identity: p.server.Identity(), Title: region.Title, Region: region, Live: "/live" + r.URL.RequestURI(), Proof: p.live.Proof}
	if r.URL.Path == searchPage.path() {
		l.Sought = searchText(r)
	}
	for _, s := range subjects {
		if s.nav != "" {
			path := s.path()
			l.Nav = append(l.Nav, link{Name: s.nav, Path: path, Current: r.URL.Path == path || path != "/" && strings.HasPrefix(r.URL.Path, path+"/") || path == workloadsPage.path() && strings.HasPrefix(r.URL.Path, "/pods/")})
		}
	}
	return l
}

// follow sends the region of a page whenever it changes.
func (p *Pages) follow(w http.ResponseWriter, r *http.Request, s page) {
	r.URL.Path = strings.TrimPrefix(r.URL.Path, "/live")
	watch := p.watch(r, s)
	defer watch.Close()
	p.live.Send(w, r, func(ctx context.Context) (string, error) {
		state, err := watch.Next(ctx)
		if err != nil {
			return "", err
		}
		var text bytes.Buffer
		err = templates[s.template].ExecuteTemplate(&text, "region", p.region(r, s, state))
		return text.String(), err
	})
}

// beat sends, to a page that does not change, only that the process runs: its links and forms lead to another process after that.
func (p *Pages) beat(w http.ResponseWriter, r *http.Request) {
	p.live.Send(w, r, func(ctx context.Context) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
}

func (p *Pages) watch(r *http.Request, s page) *feed.Watch {
	return p.feeds.Watch(s.pattern+" "+s.key(r), func(ctx context.Context) (any, error) { return p.ask(ctx, r, s) })
}

// ask reads what a page shows.
func (p *Pages) ask(ctx context.Context, r *http.Request, s page) (value any, err error) {
	err = p.server.Ask(ctx, func(ctx context.Context, c *client.Client) error {
		value, err = inTurn(ctx, func() (any, error) { return s.read(ctx, c, r) })
		return err
	})
	if err == nil && s.then != nil {
		err = p.server.Ask(ctx, func(ctx context.Context, c *client.Client) error {
			_, err := inTurn(ctx, func() (any, error) { return nil, s.then(ctx, c, value) })
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	return value, nil
}

func (p *Pages) region(r *http.Request, s page, state feed.State) region {
	one := region{Title: s.title(r), Link: p.out.Command(print.Command{"resizectl", "console", address(r.URL)})}
	if state.Err != nil {
		one.Problem = print.OneLine(state.Err.Error())
		one.Stale = state.Time
	}
	if state.Value != nil {
		one.View = s.view(p.out, state.Value, r)
	} else if state.Err != nil && s.refused != nil {
		one.View, one.Problem, one.Unread = s.view(p.out, s.refused(one.Problem), r), "", !s.once
	}
	return one
}

// address returns the path of a page with its filters.
func address(u *url.URL) string {
	return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.Query().Encode()}).String()
}

func (p *Pages) write(w http.ResponseWriter, code int, name string, l layout) {
	var text bytes.Buffer
	if err := templates[name].ExecuteTemplate(&text, "layout", l); err != nil {
		http.Error(w, "This page cannot be shown: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = text.WriteTo(w) // The browser may be gone.
}

// missing answers for a path that is no page.
func (p *Pages) missing(w http.ResponseWriter, r *http.Request) {
	l := p.layout(r, region{Title: "There is no such page", View: true})
	l.Once = true
	p.write(w, http.StatusNotFound, "missing", l)
}

// icon answers with an icon in a color of the context, so that people can tell consoles apart.
func (p *Pages) icon(w http.ResponseWriter, _ *http.Request) {
	id := p.server.Identity()
	hue := 0
	for _, b := range []byte(id.Context + id.Server) {
		hue = (hue*31 + int(b)) % 360
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	_, _ = fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="hsl(%d 60%% 40%%)"/><path d="M4 11V5M8 11V7M12 11V3" stroke="#fff" stroke-width="2"/></svg>`, hue)
}
