# Writes gee_geepack.json: generalised estimating equations by R's geepack, for tests/test_published.py.
#
#     Rscript tests/golden/gee_geepack.R          (R with the packages geepack and HSAUR3; from the repository root)
#
# respiratory: Stokes, Davis & Koch 1995, Categorical data analysis using the SAS system; 111 patients, good or poor at
# baseline and four visits. Kept as counts of patterns. toenail: De Backer et al. 1998, J Am Acad Dermatol 38, S57-63;
# moderate or severe onycholysis at seven visits, patients seen at all of them. Kept as results alone: its table comes
# with HSAUR3 (GPL-2); a second argument, a file, writes it as the test reads it.
library(geepack)

estimates <- function(data) {
  data$id <- as.integer(factor(data$id))
  data <- data[order(data$id, data$visit), ]
  found <- list()
  for (family in c("binomial", "gaussian")) {
    fit <- geeglm(y ~ visit, id = id, data = data, family = get(family)(), corstr = "independence")
    row <- summary(fit)$coefficients["visit", ]
    found[[family]] <- sprintf('{"slope": %.12g, "se": %.12g}', row[["Estimate"]], row[["Std.err"]])
  }
  shares <- paste(sprintf("%d", tapply(data$y, data$visit, sum)), collapse = ", ")
  sprintf('"patients": %d, "present": [%s], "logit": %s, "identity": %s',
          length(unique(data$id)), shares, found$binomial, found$gaussian)
}

data(respiratory, package = "geepack", envir = environment())
wide <- subset(respiratory, visit == 1)
long <- rbind(
  data.frame(id = paste(wide$center, wide$id), arm = wide$treat, visit = 0, y = wide$baseline),
  with(respiratory, data.frame(id = paste(center, id), arm = treat, visit = visit, y = outcome))
)
long <- long[order(long$id, long$visit), ]
parts <- c()
for (arm in c("A", "P")) {
  data <- long[long$arm == arm, ]
  pattern <- tapply(data$y, data$id, paste, collapse = "")
  counts <- table(pattern)
  two <- data[data$visit %in% c(0, 4), ]
  parts <- c(parts, sprintf('  "respiratory %s": {"patterns": {%s}, %s,\n   "two visits": {%s}}', arm,
    paste(sprintf('"%s": %d', names(counts), counts), collapse = ", "), estimates(data), estimates(two)))
}

data(toenail, package = "HSAUR3", envir = environment())
seen <- table(toenail$patientID)
whole <- toenail[toenail$patientID %in% names(seen)[seen == 7], ]
for (arm in levels(whole$treatment)) {
  data <- whole[whole$treatment == arm, ]
  data <- data.frame(id = as.integer(as.character(data$patientID)), visit = data$visit,
                     y = as.integer(data$outcome == "moderate or severe"))
  parts <- c(parts, sprintf('  "toenail %s": {%s}', arm, estimates(data)))
}
if (length(commandArgs(TRUE))) write.csv(toenail, commandArgs(TRUE)[1], row.names = FALSE)

tool <- sprintf("R %s, geepack %s, HSAUR3 %s", getRversion(), packageVersion("geepack"), packageVersion("HSAUR3"))
writeLines(sprintf('{\n "tool": "%s",\n "command": "Rscript tests/golden/gee_geepack.R",\n "cases": {\n%s\n }\n}',
                   tool, paste(parts, collapse = ",\n")), "tests/golden/gee_geepack.json")
