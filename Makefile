# The commands of the project. They need Go 1.26, git, make and bash.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := test

GO        ?= go
# TESTFLAGS go to go test, for example TESTFLAGS='-count=1 -v'.
TESTFLAGS ?=
# COUNT runs of each benchmark that BENCH matches make one median.
BENCH     ?= .
BENCHTIME ?= 300ms
COUNT     ?= 5
# SHORT leaves out the walk of three million states, a minute each run.
SHORT     ?= -short
# FUZZTIME is what each fuzz target gets.
FUZZTIME  ?= 10s
# VULNDB is asked only where it answers within five seconds.
VULNDB    ?= https://vuln.go.dev
# GOLDEN are the packages whose tests write files of the repository, and
# GOLDENTESTS the tests that do.
GOLDEN      = $(shell grep -rl '[.]Golden\b' --include='*_test.go' --exclude-dir=statemachinetest . | xargs -r -n1 dirname | sort -u)
GOLDENTESTS = ^($(shell grep -rhE '^func |[.]Golden\b' --include='*_test.go' $(GOLDEN) | awk '/^func /{name=$$2; sub(/[^A-Za-z0-9_].*/,"",name)} /[.]Golden/ && name ~ /^Test/{print name}' | sort -u | paste -sd'|'))$$

# SEEDS is how many seeds `make campaign` lives through.
SEEDS     ?= 100

.PHONY: test check bench bench-dora bench-bmc fuzz campaign crash clients generate drift vuln demo vm vm-all vm-cuts

## test: every test of both modules
test:
	$(GO) test $(TESTFLAGS) ./...
	cd bench && $(GO) vet ./... && $(GO) test $(TESTFLAGS) ./...

## check: format, vet, staticcheck, the house's laws, drift of generated files, known vulnerabilities
check: drift vuln
	@unformatted=$$(gofmt -l .); if [[ -n $$unformatted ]]; then echo "gofmt -w is due on:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	cd bench && $(GO) vet ./... && "$$(cd .. && $(GO) tool -n staticcheck)" ./...
	$(GO) mod verify
	$(GO) mod tidy -diff
	$(GO) test .

## generate: write the generated pages and golden files anew
generate:
	@if [[ -n "$(GOLDEN)" ]]; then $(GO) test $(GOLDEN) -run '$(GOLDENTESTS)' -update; else echo "nothing is generated yet"; fi

## drift: fail where a generated file is not what the code says
drift:
	@if [[ -n "$(GOLDEN)" ]]; then $(GO) test $(GOLDEN) -run '$(GOLDENTESTS)'; else echo "drift: nothing is generated yet"; fi

vuln:
	@host=$(VULNDB); host=$${host#*://}; host=$${host%%/*}; \
	if timeout 5 bash -c "</dev/tcp/$$host/443" 2>/dev/null; \
	then $(GO) tool govulncheck -db $(VULNDB) ./...; \
	else echo "govulncheck SKIPPED: $$host does not answer on port 443 within 5 s"; fi

## bench: one table of every benchmark, peers beside ours
bench:
	@{ $(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $(SHORT) -benchtime $(BENCHTIME) -count $(COUNT) ./...; \
	   cd bench && $(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $(SHORT) -benchtime $(BENCHTIME) -count $(COUNT) ./...; } \
	| tee /dev/stderr | (cd bench && $(GO) run ./table)

## bench-dora: exchanges of DHCP a second by perfdhcp, beside dnsmasq and Kea where they are installed, and CoreDHCP built from bench (root)
bench-dora:
	INGOT_DORA=1 $(GO) test ./cmd/booterd -run '^$$' -bench DORA -benchtime 1x -count 1 -timeout 1h | tee /dev/stderr | (cd bench && $(GO) run ./table)

## bench-bmc: FLEET simulated BMCs polled once a minute, connections kept or made anew, with and without dead BMCs; client and BMCs are two processes
FLEET ?= 4000
bench-bmc:
	cd bench && INGOT_BMCS=$(FLEET) $(GO) test ./bmc -run '^$$' -bench Fleet -benchtime 1x -count 1 -timeout 1h | tee /dev/stderr | $(GO) run ./table

## fuzz: every fuzz target for FUZZTIME
fuzz:
	@GO=$(GO) FUZZTIME=$(FUZZTIME) .ci/fuzz

## campaign: the control plane with its clients, and with booter and machines, through faults: SEEDS seeds, each twice, and the planted faults
campaign:
	INGOT_SEEDS=$(SEEDS) $(GO) test ./cmd/daemon -run 'TestCampaign|TestPlantedFaults|TestWhole' -count=1 -v -timeout 2h

## crash: every image that a loss of power may leave of a store, every call killed or failing, ingotd killed 500 times
crash:
	INGOT_CRASH=full $(GO) test ./cmd/internal/store/crashtest -count=1 -v -timeout 2h

## clients: Go clients made from the OpenAPI documents by two generators, and built
clients:
	@GO=$(GO) .ci/clients

## demo: the life of three machines in one process on loopback, from DISCOVER to approved and back
MACHINES ?= 3
demo:
	$(GO) run ./cmd/ingot demo --machines $(MACHINES)

## vm: the life of a real machine under QEMU, from its firmware's first DISCOVER on, and one moved by its BMC (root, or user namespaces)
vm:
	@GO=$(GO) .ci/vm run uefi-pxe bmc

## vm-all: the same on every way of booting, what protects disks, and ten machines at once
vm-all:
	@GO=$(GO) .ci/vm run uefi-pxe uefi-http bios-ipxe secure-boot proxy relay bmc guards fleet

## vm-cuts: CUTS setups whose power is cut at moments that seeds draw; takes up where it stopped
CUTS ?= 30
vm-cuts:
	@GO=$(GO) .ci/vm cuts --seeds $(CUTS)
