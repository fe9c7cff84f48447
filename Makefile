.DEFAULT_GOAL := help
ifdef RECIPE_TIMES
# "make test" and .ci/run say what runs, and record in the folder RECIPE_TIMES how long each recipe takes.
SHELL := test/timed
.SHELLFLAGS = $@ -euo pipefail -c
else
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
endif

# The Kubernetes version of the test cluster, from test/cluster/go.mod.
KUBERNETES_VERSION := $(shell sed -n 's/^\tk8s.io\/kubernetes v//p' test/cluster/go.mod)
# The older Kubernetes version for test-skew, of those that have a module test/cluster133 to
# test/cluster135. The oldest one is tested on each change.
SKEW ?= 1.33
SKEW_MODULE := test/cluster$(subst .,,$(SKEW))
SKEW_VERSION := $(shell sed -n 's/^\tk8s.io\/kubernetes v\([0-9.]*\).*/\1/p' $(SKEW_MODULE)/go.mod)
# The flags with which a Kubernetes program reports version $(1).
kubernetes_ldflags = -X k8s.io/component-base/version.gitVersion=v$(1) \
  -X k8s.io/component-base/version.gitMajor=$(word 1,$(subst ., ,$(1))) \
  -X k8s.io/component-base/version.gitMinor=$(word 2,$(subst ., ,$(1)))
CLUSTER_LDFLAGS := $(call kubernetes_ldflags,$(KUBERNETES_VERSION))
# Shows the progress of go build -v, which prints each package that it compiles. $(1) is what it
# builds.
show_progress = awk '/^[a-z0-9.\/_-]+$$/ { \
    if (++n == 1) print "building $(1)"; \
    if (n % 100 == 0) { print "  " n " packages compiled"; fflush() } \
    next } \
  { print; fflush() }'
# What is built from this checkout. The version is the tag of the commit, such as v1.2.3.
# Otherwise it has the last tag, the number of commits since then, and the commit with the same
# number of digits in every clone; without a tag, v0.0.0 and the commit. Changes that are not
# committed add -dirty. All are semantic versions.
COMMIT := $(shell git rev-parse HEAD 2>/dev/null)
VERSION := $(or $(shell git describe --tags --match 'v[0-9]*' --abbrev=12 2>/dev/null),$(addprefix v0.0.0-g,$(shell git rev-parse --short=12 HEAD 2>/dev/null)),development)$(if $(shell git status --porcelain 2>/dev/null),-dirty)
package_version := github.com/workload-resizer/workload-resizer/internal/version
LDFLAGS := -X $(package_version).version=$(VERSION) -X $(package_version).commit=$(COMMIT)

# Tools are pinned in a separate module.
TOOL := go tool -modfile=test/tools/go.mod
# verify-lint runs what go vet does.
GO_TEST := go test -vet=off
# The race detector needs cgo, which needs a C compiler.
RACE = $(shell [ "$$(go env CGO_ENABLED)" = 1 ] && echo -race)
# Where stages record how long their tests take, for test/times.
RECORDS := .run/times
# Runs the tests of packages $(1), with flags $(2), in the module in folder $(3). It prints a line for each
# package or, with $(4), for each test. If up to five tests fail, each of them runs once more, as a whole.
# One that passes then does not fail the run, and test/times reports it as flaky. A data race fails
# the run immediately.
go_test = $(if $(3),cd $(3) && )'$(CURDIR)/bin/gotestsum' --format $(or $(4),pkgname) --format-hide-empty-pkg --hide-summary skipped \
  --jsonfile-timing-events '$(CURDIR)/$(RECORDS)/$@-'$$$$.json \
  --rerun-fails=1 --rerun-fails-max-failures=5 --rerun-fails-run-root-test --rerun-fails-abort-on-data-race \
  --packages "$(1)" -- -vet=off $(2)
# Runs targets $(1), two at a time, all of them even if one fails, and prints where the time went.
with_times = rm -rf $(RECORDS); mkdir -p $(RECORDS); date +%s > $(RECORDS)/started; \
  result=0; $(MAKE) --no-print-directory --keep-going -j2 RECIPE_TIMES=$(RECORDS) $(1) || result=$$?; \
  go run ./test/times $(RECORDS); exit $$result

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z][a-z0-9-]*:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: build bin/grpcurl bin/kubectl bin/metrics-server ## Start a local cluster with three node types, and show pods being resized until Ctrl-C.
	@go build -o bin/demo ./test/demo
	@exec bin/demo

.PHONY: binaries
binaries: ## Build workload-resizer and resizectl, also as a kubectl plugin, into bin/.
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/workload-resizer ./cmd/resizectl
	ln -sf resizectl bin/kubectl-workload_resizer
	install cmd/resizectl/kubectl_complete-workload_resizer bin/

.PHONY: build
build: binaries bin/testcluster ## Build the binaries and testcluster. The first build takes 10 to 20 minutes.

.PHONY: version
version: ## Print the version that this checkout builds.
	@echo '$(VERSION)'

# The platforms of a release, the name of its image, and the folder for both. Servers run on Linux
# only.
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
IMAGE ?= workload-resizer:latest
DIST ?= dist

# Builds the package $(2) for the platforms $(1). The same commit and the same Go release produce
# the same programs: they contain no paths, no build time and nothing else about the checkout, and
# settings of the environment do not change them.
build_programs = @for platform in $(1); do \
    echo "building $(notdir $(2)) for $$platform"; \
    CGO_ENABLED=0 GOFLAGS=-trimpath GOAMD64=v1 GOARM64=v8.0 GOOS=$${platform%/*} GOARCH=$${platform\#*/} \
      go build -buildvcs=false -ldflags '-s -w $(LDFLAGS)' -o '$(abspath $(DIST))'/programs/$${platform/\//-}/ $(2); \
  done
pack_programs = @go run -C deploy/release . --programs '$(abspath $(DIST))/programs' $(PLATFORMS:%=--platform %) \
    --source '$(CURDIR)' --version '$(VERSION)' --commit '$(COMMIT)' --created "$$(git log -1 --format=%ct)" --name '$(IMAGE)'

.PHONY: image
image: ## Build the container image into dist/, for Linux, without a container engine.
	$(call build_programs,$(filter linux/%,$(PLATFORMS)),./cmd/workload-resizer)
	$(pack_programs) --image '$(abspath $(DIST))'/workload-resizer-image.tar

.PHONY: release
release: IMAGE = workload-resizer:$(VERSION)
release: ## Build all files of a release into dist/VERSION/ (PLATFORMS=linux/amd64): archives, image, chart, SBOMs, checksums.
	$(call build_programs,$(filter linux/%,$(PLATFORMS)),./cmd/workload-resizer)
	$(call build_programs,$(PLATFORMS),./cmd/resizectl)
	$(pack_programs) --output '$(abspath $(DIST))/$(VERSION)'

# Phony, since Go itself determines what to build. The first build compiles most of Kubernetes,
# which takes minutes.
.PHONY: bin/testcluster
bin/testcluster:
	@go build -C test/cluster -v -ldflags '$(CLUSTER_LDFLAGS)' -o ../../bin/testcluster . 2>&1 | \
	  $(call show_progress,a Kubernetes $(KUBERNETES_VERSION) test cluster; the first build takes 10 to 20 minutes)

# The control plane of the older version, for testcluster --control-plane.
.PHONY: bin/kubernetes-skew
bin/kubernetes-skew:
	go mod -C $(SKEW_MODULE) tidy -diff
	@go build -C $(SKEW_MODULE) -v -ldflags '$(call kubernetes_ldflags,$(SKEW_VERSION))' -o ../../bin/kubernetes-$(SKEW_VERSION)/ tool 2>&1 | \
	  $(call show_progress,a Kubernetes $(SKEW_VERSION) control plane; the first build takes 5 to 10 minutes)

# For testcluster --metrics-server.
.PHONY: bin/metrics-server
bin/metrics-server:
	@go build -C test/metricsserver -v -o ../../bin/ tool 2>&1 | $(call show_progress,metrics-server; the first build takes 2 to 5 minutes)

# For the end-to-end tests.
.PHONY: bin/vpa-updater
bin/vpa-updater:
	@go build -C test/vparecommender -v -o ../../bin/vpa-updater k8s.io/autoscaler/vertical-pod-autoscaler/pkg/updater 2>&1 | $(call show_progress,the updater of the VPA; the first build takes 2 to 5 minutes)

.PHONY: bin/vpa-admission-controller
bin/vpa-admission-controller: | bin/vpa-updater
	@go build -C test/vparecommender -o ../../bin/vpa-admission-controller k8s.io/autoscaler/vertical-pod-autoscaler/pkg/admission-controller

# For soak-vpa.
.PHONY: bin/vpa-recommender
bin/vpa-recommender:
	@go build -C test/vparecommender -v -o ../../bin/vpa-recommender k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender 2>&1 | $(call show_progress,the recommender of the VPA; the first build takes 2 to 5 minutes)

.PHONY: bin/kubectl
bin/kubectl:
	@go build -C test/cluster -ldflags '$(CLUSTER_LDFLAGS)' -o ../../bin/kubectl k8s.io/kubernetes/cmd/kubectl

.PHONY: bin/grpcurl
bin/grpcurl:
	@go build -modfile=test/tools/go.mod -o bin/grpcurl github.com/fullstorydev/grpcurl/cmd/grpcurl

.PHONY: bin/gotestsum
bin/gotestsum:
	@go build -modfile=test/tools/go.mod -o bin/gotestsum gotest.tools/gotestsum

.PHONY: bin/gremlins
bin/gremlins:
	@go build -modfile=test/tools/go.mod -o bin/gremlins github.com/go-gremlins/gremlins/cmd/gremlins

.PHONY: bin/helm
bin/helm:
	@go build -modfile=test/tools/go.mod -o bin/helm helm.sh/helm/v4/cmd/helm

# Debian's Prometheus: the installed programs, or else the programs of the package, unpacked
# without installing the package. This way, no service starts, and root is not needed.
bin/prometheus bin/promtool &:
	@mkdir -p bin; \
	if command -v prometheus >/dev/null && command -v promtool >/dev/null; then \
	  ln -sf "$$(command -v prometheus)" "$$(command -v promtool)" bin/; exit; fi; \
	fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	download() { (cd "$$fresh" && apt-get download -qq -o APT::Sandbox::User= prometheus); }; \
	download 2>/dev/null || { apt-get update -qq && download; } || \
	  { echo 'apt-get cannot download the package prometheus: add Prometheus 2.42 or later, with promtool, to PATH'; exit 1; }; \
	dpkg-deb -x "$$fresh"/prometheus_*.deb "$$fresh"; \
	install "$$fresh"/usr/bin/prometheus "$$fresh"/usr/bin/promtool bin/

# For test-helm3. As in Helm's own releases, the linker sets which Kubernetes version charts are
# rendered for: that of its client-go. Otherwise, it is 1.20.
HELM3_KUBERNETES = $(shell sed -n 's/^\tk8s.io\/client-go v0\.\([0-9]*\).*/\1/p' test/helm3/go.mod)
.PHONY: bin/helm3
bin/helm3:
	go mod -C test/helm3 tidy -diff
	@go build -C test/helm3 -ldflags '$(foreach package,chartutil lint/rules,-X helm.sh/helm/v3/pkg/$(package).k8sVersionMinor=$(HELM3_KUBERNETES))' \
	  -o ../../bin/helm3 helm.sh/helm/v3/cmd/helm

# A client in TypeScript: the project of test/clients, with code that is generated from the API. It
# needs Node.js 18 or later, which apt-get installs where it is missing.
bin/typescript: $(shell find proto test/clients/typescript -name '*.proto' -o -path '*/typescript/*' -type f)
	@command -v node >/dev/null && command -v npm >/dev/null || { apt-get update -qq && apt-get install -qq --no-install-recommends nodejs npm; } || \
	  { echo 'apt-get cannot install the packages nodejs and npm: add Node.js 18 or later, with npm, to PATH'; exit 1; }
	@rm -rf bin/typescript bin/typescript.new; mkdir -p bin; cp -r test/clients/typescript bin/typescript.new
	npm ci --prefix bin/typescript.new --no-audit --no-fund
	$(TOOL) buf generate --template test/clients/typescript/buf.gen.yaml
	bin/typescript.new/node_modules/.bin/tsc --project bin/typescript.new
	@mv bin/typescript.new bin/typescript

# Debian's browsers, for the tests of the console, which apt-get installs where they are missing.
.PHONY: browsers
browsers:
	@command -v chromium >/dev/null && command -v firefox-esr >/dev/null || { apt-get update -qq && apt-get install -qq --no-install-recommends chromium firefox-esr; } || \
	  { echo 'apt-get cannot install the packages chromium and firefox-esr: add both programs to PATH'; exit 1; }

# What finds barriers in pages, for these tests, as its authors publish it. The checksum is of the version that was chosen.
AXE := 4.10.3
AXE_SUM := 880970c081707360e64f34cea25ff91892f5bc95675b0776925b9709dd8a68bb
bin/axe.js: Makefile
	@command -v npm >/dev/null || { apt-get update -qq && apt-get install -qq --no-install-recommends nodejs npm; } || \
	  { echo 'apt-get cannot install the packages nodejs and npm: add npm to PATH'; exit 1; }
	@mkdir -p bin; fetched="$$(mktemp -d)"; trap 'rm -rf "$$fetched"' EXIT; \
	npm pack --silent --pack-destination "$$fetched" axe-core@$(AXE) >/dev/null && tar -xzf "$$fetched"/axe-core-$(AXE).tgz -C "$$fetched" && \
	echo '$(AXE_SUM) '"$$fetched"/package/axe.min.js | sha256sum --check --quiet && cp "$$fetched"/package/axe.min.js bin/axe.js

.PHONY: clean
clean: ## Remove build results and the local cluster.
	@if [ -e .run/cluster ] && [ ! -x bin/testcluster ]; then echo 'a cluster may be running in .run/cluster, and only bin/testcluster can stop it: run "make bin/testcluster" first'; exit 1; fi
	if [ -e .run/cluster ]; then bin/testcluster down --dir .run/cluster; fi
	rm -rf bin dist .run

# What "make test" runs, the longest first.
TESTS := test-unit test-e2e test-guard test-hostile test-chaos test-clients test-cluster test-release test-vpa

ifdef RECIPE_TIMES
# These stages start in this order when all that any of them needs is built; otherwise, the first would start
# after those that need less.
.PHONY: programs
programs: build bin/gotestsum bin/gremlins bin/grpcurl bin/helm bin/kubectl bin/metrics-server bin/prometheus bin/promtool bin/vpa-admission-controller
test-unit test-e2e test-skew test-guard test-hostile test-chaos: | programs
endif

.PHONY: test
test: ## Run all tests, against real clusters that are built and started for the tests. Takes 15 minutes.
	@$(call with_times,$(TESTS))

.PHONY: ci
ci: ## Check everything that a change must pass, as .ci/run does. Takes 20 minutes.
	@$(call with_times,$(filter-out verify-docs,$(VERIFY)) test-unit test-e2e test-skew $(filter-out test-unit test-e2e,$(TESTS)) vulncheck)

.PHONY: test-long
test-long: build bin/gotestsum bin/kubectl bin/metrics-server bin/prometheus ## Run the long forms of tests of which "make test" runs a short form. Takes 30 minutes.
	@$(call go_test,./test/chaos,-count=1 -timeout=30m,,testname)
	@$(call go_test,./test/hostile,-count=1 -timeout=30m,,testname)
	@$(call go_test,./test/guard,-count=1 -timeout=30m -parallel=4,,testname)
	$(MAKE) test-nodes

# Before a release. What has passed before with the same content runs again.
.PHONY: test-all
test-all: ## Check everything that a release must pass. Takes two hours and a half.
	$(MAKE) ALL=1 ci
	$(MAKE) ALL=1 test-long test-helm3
	$(MAKE) ALL=1 test-skew SKEW=1.34
	$(MAKE) ALL=1 test-skew SKEW=1.35
	$(MAKE) test-console TEST_CONSOLE='-stop 10m'
	$(MAKE) bench-console BENCH_CONSOLE=

# Packages with tests that have a target of their own.
OWN_TARGET := applied|chaos|e2e|evict|guard|hostile|neighbors|production
# The race detector finds races between goroutines. These lines start goroutines, or servers that call
# the code of a package or of its tests in goroutines.
CONCURRENT := \<go (func|[[:alpha:]][[:alnum:]_.]*)\(|\.Go\(|\.Parallel\(|AfterFunc\(|httptest\.New|cmdtest\.|localcluster\.|servertest\.
packages = go list -f '{{.Dir}}' ./... | sed 's|^$(CURDIR)/|./|' | grep -vE '^\./test/($(OWN_TARGET))$$' | LC_ALL=C sort
concurrent = grep -rlE '$(CONCURRENT)' --include='*.go' . | xargs dirname | LC_ALL=C sort -u
packages_with_race = $$(LC_ALL=C comm -12 <($(packages)) <($(concurrent)))
packages_without_race = $$(LC_ALL=C comm -23 <($(packages)) <($(concurrent)))
# The race detector makes tests ten times as long, and finds no more in large contents than in small ones, so
# these tests run without it. LARGE_STORED names the subtests of TestStore and TestJudge that do. MANY_STORED are
# those of them whose contents no API server limits, so test-skew leaves them out, and LARGE, which has no API server.
LARGE := TestACloud|TestARecordedTrace|TestEncoding|TestHeap|TestAnyTextThatIsALineCanBeReadAgain|TestAStreamHasAnEnd|TestLongFeeds|TestLongNames|TestManyFiles|TestManyKeysAreBoundedSoon|TestManyReads|TestManySamplesArePacked|TestRoom|TestWhatIsALineCanBeReadAgain
MANY_STORED := 10,000.nodes|20.machines.of.300|moves.the.ratios.of.a.fleet
LARGE_STORED := $(MANY_STORED)|rejects.overrides.that.do.not.fit|the.largest.content|what.does.not.fit
large = ^($(LARGE))$$|^(TestStore|TestJudge)$$/^($(LARGE_STORED))
unskewed = ^($(LARGE))$$|^(TestStore|TestJudge)$$/^($(MANY_STORED))
packages_with_large = $$(grep -rlE 'func ($(LARGE))\(|\{"($(LARGE_STORED))' --include='*_test.go' . | xargs dirname | sort -u)

.PHONY: test-unit
test-unit: build bin/gotestsum bin/gremlins bin/grpcurl bin/helm bin/kubectl bin/metrics-server bin/prometheus bin/promtool ## Run unit and integration tests; with the race detector where there are goroutines. Takes 12 minutes.
	@test/shared-cluster $(MAKE) --no-print-directory test-shared

.PHONY: test-shared
test-shared:
	@$(call go_test,$(packages_without_race))
	@$(call go_test,$(packages_with_large),-run '$(large)')
	@$(call go_test,$(packages_with_race),$(RACE) -skip '$(large)|^TestTypeScript$$' -timeout=20m -parallel=4)

.PHONY: test-guard
test-guard: build bin/gotestsum bin/kubectl bin/prometheus ## Let resizes hurt, and check what is reverted. Takes 4 minutes.
	@$(call go_test,./test/guard,-count=1 -timeout=30m -parallel=2,,testname)

# Each has a cluster that keeps a small machine busy, so they run one after the other, and next to nothing else.
.PHONY: test-nodes
test-nodes: build bin/gotestsum bin/workload-resizer-stepped ## Let the pods of nodes share, and evict pods from full nodes. Takes 7 minutes.
	@$(call go_test,./test/neighbors,-count=1 -timeout=20m,,testname)
	@$(call go_test,./test/evict,-count=1 -timeout=20m,,testname)

# The tests below depend on little of the project, and run only if that has changed since they passed on
# this machine; in "make test-all", always.

.PHONY: test-clients
test-clients: bin/gotestsum ## Let a client in TypeScript, generated from the API, call a server, if the API or the client has changed. Takes a minute.
	@if ! { command -v node && command -v npm; } >/dev/null && ! { apt-get update -qq && apt-get install -qq --no-install-recommends nodejs npm; } >/dev/null 2>&1; then \
	  echo 'NOT TESTED: the client in TypeScript. Add Node.js 18 or later, with npm, to PATH'; exit 0; fi; \
	test/unless-passed 'proto test/clients' $(MAKE) --no-print-directory test-typescript

.PHONY: test-typescript
test-typescript: bin/typescript
	@$(call go_test,./test/clients,-count=1)

.PHONY: test-release
test-release: bin/gotestsum bin/helm ## Check the files of a release. Build one twice for this platform and compare, if how it is built has changed. Takes 3 minutes.
	@$(call go_test,./...,-skip '^TestReproducible$$',deploy/release)
	@test/unless-passed 'deploy cmd/workload-resizer/main.go cmd/resizectl/main.go internal/version Dockerfile LICENSE Makefile README.md go.mod go.sum' \
	  $(MAKE) --no-print-directory test-reproducible

.PHONY: test-reproducible
test-reproducible:
	@$(call go_test,.,-count=1 -timeout=20m -run '^TestReproducible$$',deploy/release)

.PHONY: test-cluster
test-cluster: bin/testcluster bin/gotestsum bin/kubectl bin/metrics-server bin/prometheus ## Test the test cluster itself, if it has changed. Takes 3 minutes.
	@test/unless-passed 'test/cluster test/metricsserver' $(MAKE) --no-print-directory test-clusters

.PHONY: test-clusters
test-clusters:
	@$(call go_test,./...,-timeout=20m,test/cluster)

.PHONY: test-vpa
test-vpa: bin/gotestsum ## Compare recommendations with those of the VPA's own classes, on TRACE or on a small trace, if either has changed. Takes a minute.
	@test/unless-passed "test/bench/vpa docs/design/usage.md $(TRACE) $$(go list -C test/bench/vpa -deps -test -f '{{if and .Module (eq .Module.Path "github.com/workload-resizer/workload-resizer")}}{{.Dir}}{{end}}' ./... | sed 's|^$(CURDIR)/||' | sort -u | tr '\n' ' ')" \
	  $(MAKE) --no-print-directory test-vpas

.PHONY: test-vpas
test-vpas:
	@export TRACE='$(abspath $(TRACE))'; $(call go_test,./...,,test/bench/vpa)

# Where "make test-console" writes pictures of the pages, for how long it stops a console, or both: flags of the tests.
TEST_CONSOLE ?=

.PHONY: test-console
test-console: build browsers bin/axe.js bin/gotestsum bin/kubectl bin/metrics-server ## Look at the pages of "resizectl console" with Chromium and Firefox (TEST_CONSOLE='-stop 10m -shots DIR'). Takes 10 minutes.
	@$(call go_test,./...,-count=1 -timeout=60m -skip='^TestScale$$' -args $(TEST_CONSOLE),test/browser,testname)

# How long "make bench-console" looks at a page.
BENCH_CONSOLE ?= -hold 1h

.PHONY: bench-console
bench-console: binaries browsers ## Look at 10,000 workloads that change for an hour, and print how much the page and the console need (BENCH_CONSOLE='-hold 2m').
	cd test/browser && $(GO_TEST) -count=1 -timeout=3h -v -run '^TestScale$$' . -args $(BENCH_CONSOLE)

# Tests that "make test-flaky" runs, as PACKAGE.NAME, and how often.
FLAKY ?=
COUNT ?= 50

.PHONY: test-flaky
test-flaky: build bin/grpcurl bin/kubectl bin/metrics-server bin/prometheus bin/vpa-admission-controller ## Run tests that fail now and then 50 times, next to processes that keep this machine busy (FLAKY='server/usage.TestStore reconciler.TestPacer' COUNT=10).
	@if [ -z "$(FLAKY)" ]; then echo 'name the tests, such as FLAKY=server/usage.TestStore'; exit 1; fi; \
	load=(); trap 'kill "$${load[@]}"' EXIT; \
	for _ in $$(seq $$((2 * $$(nproc)))); do while :; do :; done & load+=($$!); done; \
	for test in $(FLAKY); do \
	  echo "$$test"; \
	  go test ./"$${test%.*}" $(RACE) -vet=off -run "^$${test##*.}\$$" -count=$(COUNT) -failfast -timeout=2h; \
	done

# The packages with tests that use a cluster but not its nodes. Next to chaos, one that writes resizes is enough for each change. All
# others run with ALL=1: most use ConfigMaps, Secrets and reviews, which are the same in all versions.
SKEWED := ./reconciler ./test/localcluster ./test/statuswriter $(if $(ALL),./internal/... ./ratios/... ./reconciler/... ./server/...)
with_cluster = $$(go list -f '{{range .TestImports}}{{$$.Dir}} {{.}}{{"\n"}}{{end}}{{range .XTestImports}}{{$$.Dir}} {{.}}{{"\n"}}{{end}}' $(SKEWED) | sed -nE 's~ .*/(test/localcluster|server/servertest)$$~~p' | sed 's|^$(CURDIR)/|./|' | sort -u)

.PHONY: test-skew
test-skew: build bin/gotestsum bin/kubectl bin/kubernetes-skew ## Run the tests with a cluster against the oldest supported Kubernetes API server, or a later one (SKEW=1.35). Takes 5 minutes.
	@WORKLOAD_RESIZER_TEST_KUBERNETES=$(SKEW_VERSION) test/shared-cluster $(call go_test,./test/chaos $(with_cluster),-short -skip '$(unskewed)' -timeout=20m -parallel=4)
	@WORKLOAD_RESIZER_TEST_KUBERNETES=$(SKEW_VERSION) $(call go_test,./deploy,-parallel=4 -run '^(TestAccountGuard|TestAgents|TestAnnotationGuard|TestApply|TestUsers)$$')
	@WORKLOAD_RESIZER_TEST_KUBERNETES=$(SKEW_VERSION) $(call go_test,./test/e2e,-count=1 -timeout=20m -parallel=4 -run '^TestPlaneCreation$$',,testname)

.PHONY: test-helm3
test-helm3: build bin/gotestsum bin/kubectl bin/helm3 ## Test the chart with Helm 3. make test does so with Helm 4.
	@WORKLOAD_RESIZER_TEST_HELM=helm3 $(call go_test,./deploy/charts)

.PHONY: test-hostile
test-hostile: build bin/gotestsum ## Attack a server; HOSTILE=-latency also limits how long other callers wait, on an idle machine. Takes 3 minutes.
	@$(call go_test,./test/hostile,-short -count=1 -timeout=20m $(if $(HOSTILE),-args $(HOSTILE)),,testname)

# The fuzz tests of "make fuzz", as PACKAGE.NAME: parsers of bytes that callers send, or that are stored.
FUZZ ?= cmd/resizectl/export/edit.FuzzAdd cmd/resizectl/export/edit.FuzzSet reconciler/manifest.FuzzRead reconciler/sizing.FuzzParseCPU reconciler/sizing.FuzzParseMemory server/access.FuzzPreAuthenticate server/benchmarks.FuzzKeyOf server/changelog.FuzzToken server/paging.FuzzToken server/rules.FuzzRequests server/translate.FuzzSelector usage/checkpoint.FuzzContainer usage/checkpoint.FuzzUnpack usage/checkpoint.FuzzVersion1 usage/history.FuzzRecord
FUZZ_TIME ?= 10m

.PHONY: fuzz
fuzz: ## Try random input on each parser of bytes that callers send, ten minutes each (FUZZ_TIME=1m FUZZ=server/paging.FuzzToken).
	@for test in $(FUZZ); do \
	  echo "$$test"; \
	  grep -q "^func $${test##*.}(" $${test%.*}/*_test.go || { echo "no such fuzz test"; exit 1; }; \
	  go test "./$${test%.*}" -run '^$$' -fuzz "^$${test##*.}\$$" -fuzztime $(FUZZ_TIME) -fuzzminimizetime 5s || exit 1; \
	done

.PHONY: test-chaos
test-chaos: bin/testcluster bin/gotestsum ## Kill the reconciler during its writes, and make its calls fail. Takes 2 minutes.
	@$(call go_test,./test/chaos,-short -count=1 -timeout=20m,,testname)

# How many random rounds of "make test-evictions" evict pods.
EVICTIONS ?= -rounds 1000

.PHONY: test-evictions
test-evictions: bin/testcluster ## Evict pods in 1,000 random rounds, and kill the leader before, during and after each call. Takes 20 minutes (EVICTIONS='-rounds 50 -seed 1').
	go test -count=1 -timeout=4h -parallel=4 -v -run '^TestRounds$$' ./reconciler/mover -args $(EVICTIONS)

# How many processes "make chaos" kills, and how many calls it makes fail.
CHAOS ?= -rounds 1000 -faults 10000

.PHONY: chaos
chaos: bin/testcluster ## Kill 1,000 processes and make 10,000 calls fail while other clients resize pods (CHAOS='-rounds 100 -seed 1').
	go test -count=1 -timeout=4h -v -run '^TestChaos$$/^killed_at_random_writes$$|^TestDemands$$' ./test/chaos -args $(CHAOS)

# "make soak-creation" runs TestRecreated: next to other tests, the API server may wait for a webhook for longer than a second.
.PHONY: test-e2e
test-e2e: build bin/gotestsum bin/grpcurl bin/kubectl bin/metrics-server bin/vpa-admission-controller ## Run user journeys against a real cluster. Takes 6 minutes.
	@$(call go_test,./test/e2e,-count=1 -timeout=30m -parallel=4 -skip '^TestRecreated$$',,testname)

# The packages that "make mutate" tries: packages that only compute. It skips their only test
# that needs an API server, which would take hours.
MUTATE ?= reconciler/sizing reconciler/pod reconciler/safety policy policy/keys policy/schedule ratios ratios/nodetype ratios/config internal/reader ratios/benchmark/estimate ratios/pace usage/histogram usage/history usage/recommend

.PHONY: mutate
mutate: bin/gremlins ## Change the code in one place at a time, and fail if no test detects it (MUTATE=reconciler/sizing). Takes an hour.
	@go build -o bin/mutate ./test/mutate
	@bin/mutate --skip '^TestOnTheAPIServer$$' $(MUTATE)

# Writes the proto files of the API with their comments, for reflection, to the file $(1).
api_descriptors = $(TOOL) buf build --exclude-imports --path proto/workloadresizer --as-file-descriptor-set -o $(1)

# Writes the reference of the API to the file $(1).
api_reference = $(TOOL) buf build -o -\#format=binpb | go run ./test/apidoc > $(1)

.PHONY: bench
bench: build ## Measure speed and cost compared with plain clients, on a real API server. Takes 40 minutes, or 10 with BENCH=--quick.
	go build -o bin/ ./test/bench
	bin/bench $(BENCH)

# The trace that "make backtest" replays; generated machines without it.
TRACE ?=

.PHONY: backtest
backtest: ## Replay recorded usage under our policies and the VPA's (TRACE=usage.csv.gz BACKTEST='-o wide'). Its first build takes minutes.
	@go build -C test/bench/vpa -o ../../../bin/backtest .
	@bin/backtest $(if $(TRACE),--trace '$(TRACE)') $(BACKTEST)

.PHONY: bench-api
bench-api: ## Compare API calls with plain gRPC calls: calls/s of both, and the ratio.
	go test ./server -run '^$$' -bench ShareOfBareEcho -benchtime 20x -count 6 2>/dev/null

.PHONY: bench-usage
bench-usage: bin/testcluster ## Measure what collecting the usage of 1,000 to 150,000 containers costs a server, pushed and from metrics.k8s.io. Takes 10 minutes.
	go test ./server/usage -run '^$$' -bench Scale -benchtime 12x -timeout 1h 2>/dev/null

.PHONY: soak
soak: build bin/kubectl ## Run the servers for 70 minutes while pods, ratios, leaders and the API server keep changing (SOAK='-duration=5m -tail=20m').
	@go build -o bin/soak ./test/soak
	@exec bin/soak $(SOAK)

# How many rounds "make soak-guard" runs, and how many pods each round has: for each kind of harm,
# with resizes that do no harm, and for each other reason to fare badly. Then how many pods a wrong
# ratio sizes, and for how long.
SOAK_GUARD ?= -rounds 10 -injections 10 -good 100 -controls 17 -outage 30s -wrong 500 -horizon 3m

.PHONY: soak-guard
soak-guard: build bin/kubectl ## Make 100 resizes of each kind hurt among 1,000 good ones, and check that exactly these are reverted (SOAK_GUARD='-rounds 2').
	$(GO_TEST) -count=1 -timeout=2h -v ./test/guard -args $(SOAK_GUARD)

# How many workloads "make soak-applied" runs, how many pods each of them has, on how many nodes of each type, and for how
# long sizes follow usage.
SOAK_APPLIED ?= -workloads 50 -replicas 10 -nodes 6 -hold 30m

.PHONY: soak-applied
soak-applied: build bin/testcluster bin/metrics-server ## Size 500 pods by their usage, roll them out on other nodes, and give them back what their authors wrote. Takes 40 minutes (SOAK_APPLIED='-workloads 20').
	$(GO_TEST) -count=1 -timeout=1h -v -run '^TestApplied$$' ./test/applied -args $(SOAK_APPLIED)

# For how many days "make soak-weeks" runs, how many workloads, how many pods of each of them on nodes of each type, and on
# which day nothing is reported.
SOAK_WEEKS ?= -days 15 -simulated 18 -each 2 -away 10

.PHONY: soak-weeks
soak-weeks: bin/testcluster bin/workload-resizer-stepped ## Size 100 pods by the usage of 15 simulated days, while leaders are killed and reports are missing, and compare them with a twin (SOAK_WEEKS='-days 3').
	$(GO_TEST) -count=1 -timeout=3h -v -run '^TestWeeks$$' ./test/applied -args $(SOAK_WEEKS)

# For how many hours "make soak-production" runs, how many workloads, how many pods of each of them and how many nodes of each
# type, and how often a day the leader is killed.
SOAK_PRODUCTION ?= -hours 240 -workloads 40 -each 3 -nodes 20 -kills 1

.PHONY: soak-production
soak-production: bin/testcluster bin/workload-resizer-stepped ## Let production show how fast node types are in 10 simulated days, while leaders are killed, nodes go and come, and pods are resized. Takes 15 minutes (SOAK_PRODUCTION='-hours 12 -workloads 10').
	$(GO_TEST) -count=1 -timeout=3h -v -run '^TestProduction$$' ./test/production -args $(SOAK_PRODUCTION)

# For soak-weeks and soak-production: the server, in the program of its tests, which can replace its clock.
.PHONY: bin/workload-resizer-stepped
bin/workload-resizer-stepped:
	@CGO_ENABLED=0 go test -vet=off -c -trimpath -o $@ ./cmd/workload-resizer

# How many clusters "make simulate" simulates per case, and from which seed.
SIMULATE ?= -runs 2000 -seed 1

.PHONY: simulate
simulate: ## Estimate ratios from the usage of simulated clusters whose ratios are known. Takes 9 hours of one core (SIMULATE='-runs 100').
	$(GO_TEST) -count=1 -timeout=24h -v -run '^TestSimulation$$' ./ratios/production/productiontest -args $(SIMULATE)

# How many pods "make soak-creation" deletes, and within which time those that replace them must have a node.
SOAK_CREATION ?= -recreations 1000 -pending 30s

.PHONY: soak-creation
soak-creation: build bin/kubectl bin/metrics-server ## Delete 1,000 pods while leaders end, and check which size those get that replace them. Measure how many pods are created per second, with and without the webhook. Takes 5 minutes (SOAK_CREATION='-recreations 200').
	$(GO_TEST) -count=1 -timeout=1h -v -run '^TestRecreated$$' ./test/e2e -args $(SOAK_CREATION)

.PHONY: soak-vpa
soak-vpa: bin/testcluster bin/metrics-server bin/vpa-recommender ## Run the recommender of the Vertical Pod Autoscaler next to ours for 15 minutes, and compare their targets (SOAK_VPA='-duration=5m').
	@go build -o bin/soakvpa ./test/soakvpa
	@exec bin/soakvpa -crds "$$(go list -C test/vparecommender -m -f '{{.Dir}}' k8s.io/autoscaler/vertical-pod-autoscaler)/deploy/vpa-v1-crd-gen.yaml" $(SOAK_VPA)

.PHONY: soak-usage
soak-usage: build bin/metrics-server ## Disturb servers that collect usage for 30 minutes, and check that no recommendation moves or is lost (SOAK_USAGE='-gone=1h').
	@go build -o bin/soakusage ./test/soakusage
	@exec bin/soakusage $(SOAK_USAGE)

.PHONY: test-export
test-export: ## Export a recommendation for each container into copies of directories, and check that only amounts change (DIRS='DIR DIR').
	@go build -o bin/ ./cmd/resizectl
	@go build -o bin/testexport ./test/export
	@exec bin/testexport $(TEST_EXPORT) $(DIRS)

.PHONY: published
published: ## Compute the ratios of published scores (PUBLISHED='-scores FILE -servers FILE -baseline n2d').
	go run ./test/published -coremark deploy/samples/coremark.csv $(PUBLISHED)

.PHONY: bench-node
bench-node: ## Measure this machine twice. If it is idle, the scores agree within 5%.
	go test ./agent -run '^$$' -bench Twice -benchtime 1x -v

.PHONY: bench-node-load
bench-node-load: ## Measure this machine next to processes that use 30% and 60% of it. The scores agree within 5%.
	go test ./agent -run '^$$' -bench NextToLoad -benchtime 1x -v

# Debian's kernel for virtual machines, and the emulator, which apt-get installs where it is missing.
# It needs no hardware support.
.PHONY: bin/kernel
bin/kernel:
	@command -v qemu-system-x86_64 >/dev/null && command -v cpio >/dev/null && command -v xz >/dev/null || \
	  { apt-get update -qq && apt-get install -qq --no-install-recommends qemu-system-x86 cpio xz-utils; } || \
	  { echo 'apt-get cannot install the packages qemu-system-x86, cpio and xz-utils: add them to PATH'; exit 1; }
	@ls bin/kernel/virtio_net.ko* >/dev/null 2>&1 || test/cgroups/kernel.sh bin/kernel

.PHONY: test-cgroups
test-cgroups: bin/kernel ## Test on a Linux kernel what node agents report (KERNEL=DIR with vmlinuz and modules).
	test/cgroups/run.sh $(or $(KERNEL),bin/kernel)

.PHONY: test-cgroups-agent
test-cgroups-agent: build bin/kernel ## Run the usage agent on a Linux kernel in a virtual machine, and check what a server shows (KERNEL=DIR).
	go run ./test/cgroups/host -kernel $(or $(KERNEL),bin/kernel)

# The packages whose tests write parts of docs/reference: one at a time, since they share pages.
REFERENCES := ./agent/usage ./cmd/resizectl ./cmd/workload-resizer ./policy ./ratios/benchmark/estimate ./ratios/benchmark/feed ./ratios/benchmark/settings ./ratios/config \
  ./ratios/nodetype ./reconciler/contract ./reconciler/hold ./reconciler/manifest ./reconciler/sizing ./reconciler/workload ./server/access ./server/selfsigned ./test/monitoring

.PHONY: generate
generate: ## Generate Go code from the API's proto files, the references, and the chart's copies.
	$(TOOL) buf generate
	$(call api_descriptors,server/reflection/api.binpb)
	$(call api_reference,docs/reference/api.md)
	go test -p 1 $(REFERENCES) -run Reference -update
	go test ./test/docpage -run Reference -update
	go test ./deploy -run '^TestMonitoring$$/PrometheusRule' -update
	go test ./deploy/charts -run 'Reference|Copies' -update

# The library that draws the console's charts, as its authors publish it. The checksums are of the version that was chosen.
UPLOT := 1.6.32
UPLOT_IN := cmd/resizectl/console/pages/assets/uplot

.PHONY: uplot
uplot: ## Fetch the library that draws the console's charts, and check that it is what was chosen.
	@fetched="$$(mktemp -d)"; trap 'rm -rf "$$fetched"' EXIT; \
	npm pack --silent --pack-destination "$$fetched" uplot@$(UPLOT) >/dev/null && tar -xzf "$$fetched"/uplot-$(UPLOT).tgz -C "$$fetched" && \
	cp "$$fetched"/package/LICENSE "$$fetched"/package/dist/uPlot.esm.js $(UPLOT_IN)/ && cp "$$fetched"/package/dist/uPlot.min.css $(UPLOT_IN)/uPlot.css && \
	cd $(UPLOT_IN) && sha256sum --check --quiet SHA256SUMS

.PHONY: pictures
pictures: build browsers bin/kubectl bin/metrics-server bin/prometheus ## Draw the pictures of the documentation again, from a server that runs. Takes 10 minutes.
	$(GO_TEST) -count=1 ./test/pictures -run '^Test(Pictures|Requests)$$' -update
	shots=$$(mktemp -d); trap 'rm -rf "$$shots"' EXIT; \
	(cd test/browser && $(GO_TEST) -count=1 -timeout=30m -run '^TestConsole$$/^two_contexts' . -args -shots "$$shots"); \
	install -m 644 "$$shots"/{console,workload}.png docs/pictures

.PHONY: fmt
fmt: ## Format the Go files and the proto files.
	gofmt -w $$(git ls-files --cached --others --exclude-standard '*.go')
	$(TOOL) buf format -w

# What "make verify" checks. "make ci" leaves out verify-docs, whose tests are among those of test-unit.
VERIFY := verify-format verify-lint verify-imports verify-proto verify-breaking verify-docs verify-prose verify-modules

.PHONY: verify
verify: $(VERIFY) ## Check format, lint, import rules, API, generated code, text and modules. Takes 3 minutes.

.PHONY: verify-format
verify-format:
	@unformatted=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go')); if [ -n "$$unformatted" ]; then echo "not formatted, run make fmt:"; echo "$$unformatted"; exit 1; fi

# The linters include those of go vet.
.PHONY: verify-lint
verify-lint: ## Check the code with linters.
	@go build -modfile=test/tools/go.mod -o bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	bin/golangci-lint run --allow-parallel-runners
	cd test/cluster && ../../bin/golangci-lint run --allow-parallel-runners --config ../../.golangci.yml
	cd deploy/release && ../../bin/golangci-lint run --allow-parallel-runners --config ../../.golangci.yml
	cd test/browser && ../../bin/golangci-lint run --allow-parallel-runners --config ../../.golangci.yml
	cd test/bench/vpa && ../../../bin/golangci-lint run --allow-parallel-runners --config ../../../.golangci.yml

# Checks that the linter refuses imports that the rules do not allow: PACKAGE:IMPORT, in a copy.
REFUSED := policy:reconciler/pod usage:ratios usage/checkpoint:ratios usage/histogram:internal/document usage/history:usage/checkpoint/stored/v2 usage/recommend:reconciler/pod usage/metricsapi:usage/trace

.PHONY: verify-imports
verify-imports: verify-lint
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	cp -r --parents go.mod go.sum .golangci.yml internal policy ratios reconciler usage "$$fresh"; \
	for case in $(REFUSED); do \
	  package=$${case%:*}; \
	  printf 'package %s\n\nimport _ "github.com/workload-resizer/workload-resizer/%s"\n' "$${package##*/}" "$${case#*:}" > "$$fresh/$$package/refused.go"; \
	done; \
	findings=$$(cd "$$fresh" && $(abspath bin/golangci-lint) run --allow-parallel-runners --enable-only depguard ./policy/... ./usage/... || true); \
	for case in $(REFUSED); do \
	  grep -q "^$${case%:*}/refused.go:.*depguard" <<< "$$findings" || { echo "$$findings"; echo "the linter does not refuse $${case#*:} in $${case%:*}"; exit 1; }; \
	done

# Generates code in a temporary directory and compares it, so that the check changes nothing.
.PHONY: verify-proto
verify-proto:
	$(TOOL) buf lint
	$(TOOL) buf format --diff --exit-code
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	$(TOOL) buf generate -o "$$fresh"; \
	for file in $$(git ls-files 'proto/*.pb.go' 'usage/*.pb.go'); do \
	  diff -u "$$file" "$$fresh/$$file" || { echo "generated code is out of date, run make generate"; exit 1; }; \
	done; \
	$(call api_descriptors,"$$fresh/api.binpb"); \
	cmp server/reflection/api.binpb "$$fresh/api.binpb" || { echo "server/reflection/api.binpb is out of date, run make generate"; exit 1; }; \
	$(call api_reference,"$$fresh/api.md"); \
	diff -u docs/reference/api.md "$$fresh/api.md" || { echo "docs/reference/api.md is out of date, run make generate"; exit 1; }; \
	for file in $$(cd "$$fresh" && find proto usage -name '*.pb.go'); do \
	  git ls-files --error-unmatch "$$file" >/dev/null || { echo "generated code is missing, run make generate"; exit 1; }; \
	done

# The folders with proto files.
PROTOS := proto usage/checkpoint/stored

# The API and what the server stores must stay compatible. This compares a branch, or uncommitted changes,
# with main, and main with its previous commit. Proto files that are new are compared with themselves, because
# buf needs the same modules on both sides.
.PHONY: verify-breaking
verify-breaking:
	@base=$$(git merge-base HEAD main 2>/dev/null || git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD); \
	if [ "$$base" = "$$(git rev-parse HEAD)" ] && git diff --quiet HEAD -- $(PROTOS) && [ -z "$$(git ls-files --others --exclude-standard $(PROTOS))" ]; then base=HEAD~1; fi; \
	if ! git rev-parse -q --verify "$$base^{commit}" >/dev/null; then \
	  echo "skipped the comparison with an earlier API: this clone has no commit $$base (run git fetch --deepen 1)"; exit 0; fi; \
	fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	cp -r --parents buf.yaml usage/checkpoint/stored "$$fresh"; \
	git archive "$$base" proto usage | tar -x -C "$$fresh" --wildcards '*.proto'; \
	$(TOOL) buf breaking --against "$$fresh"

# The references of commands and flags, and the chart's copies and table of values. verify-proto
# checks the reference of the API.
.PHONY: verify-docs
verify-docs:
	@go test $(REFERENCES) ./test/docpage ./deploy/charts -run "Reference|Copies" >/dev/null || { echo "a reference is out of date, run make generate"; exit 1; }

# Checks the text that users and developers read, with the rules in .vale/styles: Markdown, the
# comments of Go, proto and YAML files, and the string literals of Go files.
.PHONY: verify-prose
verify-prose:
	@if [ "$$(go env CGO_ENABLED)" != 1 ]; then echo 'skipped the check of text: Vale needs a C compiler'; exit 0; fi; \
	CGO_CFLAGS=-w go build -modfile=test/tools/go.mod -o bin/vale github.com/vale-cli/vale/v3/cmd/vale; \
	go build -o bin/prose ./test/prose; \
	$(GO_TEST) -tags vale ./test/prose; \
	text=$$(mktemp -d); trap 'rm -rf "$$text"' EXIT; \
	bin/prose "$$text" $$(git ls-files '*.md' '*.go' '*.proto' '*.yaml' '*.yml' ':!*.pb.go' ':!proto/third_party'); \
	(cd "$$text" && $(abspath bin/vale) --config=$(abspath .vale.ini) --output=line .) | sed -E 's/\.txt(:[0-9]+:)/\1/' || \
	  { echo 'see "Language" in CONTRIBUTING.md for how to write'; exit 1; }

# The database in which "make vulncheck" looks up vulnerabilities.
VULNDB ?= https://vuln.go.dev

.PHONY: vulncheck
vulncheck: ## Look for known vulnerabilities in the code that the programs and the Go client call, if the database can be reached (VULNDB=URL).
	@go build -modfile=test/tools/go.mod -o bin/govulncheck golang.org/x/vuln/cmd/govulncheck
	@if ! bin/govulncheck -db '$(VULNDB)' -version | grep '^DB updated:'; then \
	  echo 'NOT CHECKED for known vulnerabilities: $(VULNDB) cannot be reached. Set VULNDB to a mirror of it, such as file:///path'; exit 0; fi; \
	bin/govulncheck -db '$(VULNDB)' ./cmd/... ./client

.PHONY: verify-modules
verify-modules:
	go mod tidy -diff
	go mod -C deploy/release tidy -diff
	go mod -C test/bench/vpa tidy -diff
	go mod -C test/browser tidy -diff
	go mod -C test/cluster tidy -diff
	go mod -C test/cluster133 tidy -diff
	go mod -C test/cluster134 tidy -diff
	go mod -C test/cluster135 tidy -diff
	go mod -C test/helm3 tidy -diff
	go mod -C test/metricsserver tidy -diff
	go mod -C test/tools tidy -diff
	go mod -C test/vparecommender tidy -diff
